#include "parallel/codec/pick_keys.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace torus::parallel {
namespace {

constexpr int kBinBits = 11;
constexpr size_t kSortUpTo = 128;  // keys

void PickSorted(std::span<const uint64_t> keys, std::span<const int64_t> ranks,
                std::span<uint64_t> out) {
  std::array<uint64_t, kSortUpTo> sorted;
  std::ranges::copy(keys, sorted.begin());
  std::sort(sorted.begin(), sorted.begin() + keys.size());
  for (size_t i = 0; i < ranks.size(); ++i) out[i] = sorted[ranks[i]];
}

// Divides the range between the least and the greatest key into bins of equal width.
class Bins {
 public:
  explicit Bins(std::span<const uint64_t> keys) : keys_(keys), least_(keys[0]) {
    uint64_t greatest = keys[0];
    for (const uint64_t key : keys) {
      least_ = std::min(least_, key);
      greatest = std::max(greatest, key);
    }
    shift_ = std::max(0, static_cast<int>(std::bit_width(greatest - least_)) - kBinBits);
    for (const uint64_t key : keys) ++counts_[BinOf(key)];
  }

  int64_t count(size_t bin) const { return counts_[bin]; }

  // Collected without a branch, so there is room for one key more.
  std::vector<uint64_t> KeysIn(size_t bin) const {
    std::vector<uint64_t> kept(counts_[bin] + 1);
    size_t found = 0;
    for (const uint64_t key : keys_) {
      kept[found] = key;
      found += BinOf(key) == bin;
    }
    kept.resize(found);
    return kept;
  }

 private:
  size_t BinOf(uint64_t key) const { return (key - least_) >> shift_; }

  std::span<const uint64_t> keys_;
  uint64_t least_;
  int shift_;
  std::array<uint32_t, 1 << kBinBits> counts_{};
};

}  // namespace

void PickKeys(std::span<const uint64_t> keys, std::span<const int64_t> ranks,
              std::span<uint64_t> out) {
  if (ranks.empty()) return;
  if (keys.size() <= kSortUpTo) return PickSorted(keys, ranks, out);
  const Bins bins(keys);
  int64_t below = 0;
  std::vector<int64_t> here;  // ranks within the bin
  for (size_t bin = 0, next = 0; next < ranks.size(); below += bins.count(bin++)) {
    here.clear();
    for (size_t i = next; i < ranks.size() && ranks[i] < below + bins.count(bin); ++i)
      here.push_back(ranks[i] - below);
    if (here.empty()) continue;
    PickKeys(bins.KeysIn(bin), here, out.subspan(next, here.size()));
    next += here.size();
  }
}

}  // namespace torus::parallel
