#include "parallel/codec/order_statistics.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "parallel/codec/bin_counts.h"
#include "parallel/codec/pick_in_bin.h"
#include "runtime/error.h"
#include "runtime/parallel_for.h"
#include "runtime/storage.h"

namespace torus::parallel {
namespace {

constexpr int kBins = BinCounts::kBins;
constexpr int64_t kGatherBlock = 2048;

uint32_t UpperHalf(float value) { return std::bit_cast<uint32_t>(value) >> 16; }

// A bin that holds wanted ranks.
struct Slot {
  int bin;
  int64_t start, count;        // of its indices in the gathered list
  size_t first_rank;           // of the wanted ones
  std::vector<int64_t> ranks;  // within the bin
};

struct Slots {
  std::vector<Slot> slots;
  int64_t gathered = 0;  // indices in all of them
};

void RequireFinite(std::span<const float> values, const BinCounts& counts) {
  const int64_t bad = counts.NonFinite();
  if (bad == 0) return;
  const auto first =
      std::find_if(values.begin(), values.end(), [](float v) { return !std::isfinite(v); });
  Throw<BadInput>("sortq", "needs finite values; {} of {} are not, the first is {} at index {}",
                  bad, values.size(), *first, first - values.begin());
}

// Adds the slot of `bin`, below which are `below` values, if it holds the next wanted rank or more
// of them.
size_t AddSlot(std::span<const int64_t> ranks, size_t next, int bin, int64_t below, int64_t count,
               Slots& out) {
  Slot slot{bin, out.gathered, count, next, {}};
  for (; next < ranks.size() && ranks[next] < below + count; ++next)
    slot.ranks.push_back(ranks[next] - below);
  if (slot.ranks.empty()) return next;
  out.gathered += count;
  out.slots.push_back(std::move(slot));
  return next;
}

// Finds the bin of every rank by a running sum, which skips blocks of bins that hold none.
Slots Locate(std::span<const int64_t> ranks, const BinCounts& counts) {
  constexpr int kBlock = 256;
  Slots slots;
  int64_t below = 0;
  size_t next = 0;
  for (int block = 0; block < kBins && next < ranks.size(); block += kBlock) {
    const int64_t total = counts.CountBetween(block, block + kBlock);
    int64_t before = below;
    below += total;
    for (int bin = block; next < ranks.size() && ranks[next] < below; before += counts.count(bin++))
      next = AddSlot(ranks, next, bin, before, counts.count(bin), slots);
  }
  TORUS_CHECK(next == ranks.size(), "found {} of {} ranks", next, ranks.size());
  return slots;
}

// Where each part writes its share of each slot, so that a slot's indices ascend: [part][slot].
std::vector<int64_t> ShareStarts(const std::vector<Slot>& slots, const BinCounts& counts) {
  std::vector<int64_t> starts(counts.parts() * slots.size());
  for (size_t s = 0; s < slots.size(); ++s) {
    int64_t at = slots[s].start;
    for (int part = 0; part < counts.parts(); ++part) {
      starts[part * slots.size() + s] = at;
      at += counts.CountInPart(part, slots[s].bin);
    }
  }
  return starts;
}

// Slot + 1 of each upper half of a float (0 where its bin holds no wanted rank), and the fullest slot's.
struct SlotTable {
  std::vector<uint8_t> slot = std::vector<uint8_t>(kBins, 0);
  uint8_t fullest = 0;
};

// First which, without a branch (no processor guesses a few percent well), then where to. The fullest slot, which holds
// the zeros behind a ReLU, goes apart: its counter stays in a register instead of waiting for itself in memory.
void GatherBlock(const float* values, int64_t begin, int64_t end, const SlotTable& table,
                 int64_t* starts, uint32_t* indices) {
  const uint8_t *const slots = table.slot.data(), full = table.fullest;
  const auto slot_of = [&](uint32_t i) { return slots[UpperHalf(values[i])]; };
  std::array<uint32_t, kGatherBlock> found, fullest;
  size_t count = 0, others = 0, fulls = 0;
  for (int64_t i = begin; i < end; ++i) {
    found[count] = static_cast<uint32_t>(i);
    count += slot_of(found[count]) != 0;
  }
  for (size_t j = 0; j < count; ++j) {
    const uint32_t i = found[j];
    const bool is_full = slot_of(i) == full;
    found[others] = fullest[fulls] = i;
    others += !is_full;
    fulls += is_full;
  }
  std::copy_n(fullest.data(), fulls, indices + starts[full - 1]);
  starts[full - 1] += static_cast<int64_t>(fulls);
  for (size_t j = 0; j < others; ++j) indices[starts[slot_of(found[j]) - 1]++] = found[j];
}

SlotTable MakeSlotTable(const std::vector<Slot>& slots) {
  SlotTable table;
  for (size_t s = 0; s < slots.size(); ++s) {
    const uint8_t number = static_cast<uint8_t>(s + 1);
    table.slot[BinCounts::UpperHalfOf(slots[s].bin)] = number;
    if (slots[s].bin == BinCounts::kZeroBin) table.slot[0x8000] = number;
    if (s == 0 || slots[s].count > slots[table.fullest - 1].count) table.fullest = number;
  }
  return table;
}

void Gather(std::span<const float> values, const std::vector<Slot>& slots, const BinCounts& counts,
            uint32_t* indices) {
  const SlotTable table = MakeSlotTable(slots);
  std::vector<int64_t> starts = ShareStarts(slots, counts);
  ParallelFor(counts.parts(), 1, [&](int64_t first, int64_t last) {
    for (int part = static_cast<int>(first); part < last; ++part) {
      const int64_t end = counts.PartBegin(part + 1);
      for (int64_t i = counts.PartBegin(part); i < end; i += kGatherBlock)
        GatherBlock(values.data(), i, std::min(i + kGatherBlock, end), table,
                    &starts[part * slots.size()], indices);
    }
  });
}

}  // namespace

void OrderStatistics(std::span<const float> values, std::span<const int64_t> ranks,
                     std::span<uint32_t> out) {
  Require(values.size() < (uint64_t{1} << 32), "sortq", "takes fewer than 2^32 values, got {}",
          values.size());
  if (values.empty() || ranks.empty()) return;
  const BinCounts counts(values);
  RequireFinite(values, counts);
  const auto [slots, gathered] = Locate(ranks, counts);
  Storage lists(2 * sizeof(uint32_t) * static_cast<size_t>(gathered), Device{});
  uint32_t* indices = static_cast<uint32_t*>(lists.data());
  Gather(values, slots, counts, indices);
  ParallelFor(
      static_cast<int64_t>(slots.size()), 1, [&, &slots = slots](int64_t begin, int64_t end) {
        for (const Slot& slot : std::span(slots).subspan(begin, end - begin)) {
          const auto list = [&](int64_t at) { return std::span(indices + at, slot.count); };
          PickInBin(values.data(), list(slot.start), slot.ranks, list(gathered + slot.start),
                    out.subspan(slot.first_rank, slot.ranks.size()));
        }
      });
}

}  // namespace torus::parallel
