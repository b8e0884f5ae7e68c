#include "parallel/codec/order_statistics.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "parallel/codec/bin_counts.h"
#include "parallel/codec/gather_bins.h"
#include "parallel/codec/pick_in_bin.h"
#include "parallel/codec/sampled_statistics.h"
#include "parallel/codec/value_key.h"
#include "runtime/error.h"
#include "runtime/parallel_for.h"
#include "runtime/storage.h"

namespace torus::parallel {
namespace {

constexpr int kBins = BinCounts::kBins;
constexpr size_t kSortUpTo = 2048;  // values

// The wanted ranks that lie in one bin.
struct BinRanks {
  size_t first;                // of them among all wanted ranks
  std::vector<int64_t> ranks;  // within the bin
};

struct Located {
  std::vector<BinRange> bins;
  std::vector<BinRanks> ranks;  // of each bin
  int64_t gathered = 0;         // indices in all bins
};

// Adds `bin`, which has `below` values below it, if it holds the next wanted rank. Returns the
// index of the first wanted rank above the bin.
size_t AddBin(std::span<const int64_t> ranks, size_t next, int bin, int64_t below, int64_t count,
              Located& out) {
  BinRanks here{next, {}};
  for (; next < ranks.size() && ranks[next] < below + count; ++next)
    here.ranks.push_back(ranks[next] - below);
  if (here.ranks.empty()) return next;
  out.bins.push_back({bin, out.gathered, count});
  out.ranks.push_back(std::move(here));
  out.gathered += count;
  return next;
}

// Finds the bin of every rank by a running sum, which skips blocks of bins that hold none.
Located Locate(std::span<const int64_t> ranks, const BinCounts& counts) {
  constexpr int kBlock = 256;
  Located located;
  int64_t below = 0;
  size_t next = 0;
  for (int block = 0; block < kBins && next < ranks.size(); block += kBlock) {
    const int64_t total = counts.CountBetween(block, block + kBlock);
    int64_t before = below;
    below += total;
    for (int bin = block; next < ranks.size() && ranks[next] < below; before += counts.count(bin++))
      next = AddBin(ranks, next, bin, before, counts.count(bin), located);
  }
  TORUS_CHECK(next == ranks.size(), "found {} of {} ranks", next, ranks.size());
  return located;
}

// One thread per bin, unless there is too little work to wake one.
void PickAll(std::span<const float> values, const Located& located, uint32_t* indices,
             uint32_t* scratch, std::span<uint32_t> out) {
  constexpr int64_t kWorthAThread = 1 << 13;  // indices
  const int64_t bins = static_cast<int64_t>(located.bins.size());
  const int64_t grain = std::max<int64_t>(1, bins * kWorthAThread / located.gathered);
  ParallelFor(bins, grain, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const auto& [bin, start, count] = located.bins[b];
      const auto& [first, ranks] = located.ranks[b];
      const size_t size = static_cast<size_t>(count);
      PickInBin(values.data(), {indices + start, size}, ranks, {scratch + start, size},
                out.subspan(first, ranks.size()));
    }
  });
}

// For few values: a histogram's tables would cost more than a sort.
bool SortedStatistics(std::span<const float> values, std::span<const int64_t> ranks,
                      std::span<uint32_t> out) {
  std::vector<uint64_t> keys(values.size());
  bool finite = true;
  for (size_t i = 0; i < values.size(); ++i) {
    keys[i] = ValueKey(values[i], static_cast<uint32_t>(i));
    finite = finite && values[i] - values[i] == 0;
  }
  if (!finite) return false;
  std::ranges::sort(keys);
  for (size_t i = 0; i < ranks.size(); ++i) out[i] = IndexOfKey(keys[ranks[i]]);
  return true;
}

}  // namespace

bool OrderStatistics(std::span<const float> values, std::span<const int64_t> ranks,
                     std::span<uint32_t> out) {
  Require(values.size() < (uint64_t{1} << 32), "sortq", "takes fewer than 2^32 values, got {}",
          values.size());
  if (values.empty() || ranks.empty()) return true;
  if (values.size() <= kSortUpTo) return SortedStatistics(values, ranks, out);
  const Sampled sampled = SampledStatistics(values, ranks, out);
  if (sampled != Sampled::kMissed) return sampled == Sampled::kFound;
  const BinCounts counts(values);
  if (counts.NonFinite() > 0) return false;
  const Located located = Locate(ranks, counts);
  Storage lists(2 * sizeof(uint32_t) * static_cast<size_t>(located.gathered), Device{});
  uint32_t* indices = static_cast<uint32_t*>(lists.data());
  GatherBins(values, counts, located.bins, indices);
  PickAll(values, located, indices, indices + located.gathered, out);
  return true;
}

}  // namespace torus::parallel
