#include "parallel/codec/gather_bins.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "runtime/parallel_for.h"

namespace torus::parallel {
namespace {

constexpr int64_t kBlock = 2048;

uint32_t UpperHalf(float value) { return std::bit_cast<uint32_t>(value) >> 16; }

// For each upper half of a float: 1 + the index of its bin among the wanted ones; 0 if not wanted.
struct PlaceTable {
  std::vector<uint8_t> place = std::vector<uint8_t>(BinCounts::kBins, 0);
  uint8_t fullest = 1;
};

PlaceTable MakePlaceTable(std::span<const BinRange> bins) {
  PlaceTable table;
  for (size_t b = 0; b < bins.size(); ++b) {
    const uint8_t place = static_cast<uint8_t>(b + 1);
    table.place[BinCounts::UpperHalfOf(bins[b].bin)] = place;
    if (bins[b].bin == BinCounts::kZeroBin) table.place[0x8000] = place;
    if (bins[b].count > bins[table.fullest - 1].count) table.fullest = place;
  }
  return table;
}

// Where each part begins to write the indices of each bin, so that a bin's indices ascend:
// [part][bin].
std::vector<int64_t> ShareStarts(std::span<const BinRange> bins, const BinCounts& counts) {
  std::vector<int64_t> starts(counts.parts() * bins.size());
  for (size_t b = 0; b < bins.size(); ++b) {
    int64_t at = bins[b].start;
    for (int part = 0; part < counts.parts(); ++part) {
      starts[part * bins.size() + b] = at;
      at += counts.CountInPart(part, bins[b].bin);
    }
  }
  return starts;
}

// First finds the indices of all wanted bins, without a branch: a branch taken for a few percent of
// the values is often mispredicted. Then sorts them into their bins. The fullest bin (the zeros
// after a ReLU) is handled separately, with its counter in a register instead of in memory.
void GatherBlock(const float* values, int64_t begin, int64_t end, const PlaceTable& table,
                 int64_t* starts, uint32_t* indices) {
  const uint8_t *const places = table.place.data(), full = table.fullest;
  const auto place_of = [&](uint32_t i) { return places[UpperHalf(values[i])]; };
  std::array<uint32_t, kBlock> found, fullest;
  size_t count = 0, others = 0, fulls = 0;
  for (int64_t i = begin; i < end; ++i) {
    found[count] = static_cast<uint32_t>(i);
    count += place_of(found[count]) != 0;
  }
  for (size_t j = 0; j < count; ++j) {
    const uint32_t i = found[j];
    const bool is_full = place_of(i) == full;
    found[others] = fullest[fulls] = i;
    others += !is_full;
    fulls += is_full;
  }
  std::copy_n(fullest.data(), fulls, indices + starts[full - 1]);
  starts[full - 1] += static_cast<int64_t>(fulls);
  for (size_t j = 0; j < others; ++j) indices[starts[place_of(found[j]) - 1]++] = found[j];
}

}  // namespace

void GatherBins(std::span<const float> values, const BinCounts& counts,
                std::span<const BinRange> bins, uint32_t* indices) {
  const PlaceTable table = MakePlaceTable(bins);
  std::vector<int64_t> starts = ShareStarts(bins, counts);
  ParallelFor(counts.parts(), 1, [&](int64_t first, int64_t last) {
    for (int part = static_cast<int>(first); part < last; ++part) {
      const int64_t end = counts.PartBegin(part + 1);
      for (int64_t i = counts.PartBegin(part); i < end; i += kBlock)
        GatherBlock(values.data(), i, std::min(i + kBlock, end), table, &starts[part * bins.size()],
                    indices);
    }
  });
}

}  // namespace torus::parallel
