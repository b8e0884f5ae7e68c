#include "parallel/codec/pick_in_bin.h"

#include <algorithm>
#include <array>
#include <bit>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

// The order of a value within its bin: 17 bits, since the bin of the zeros holds both signs.
uint32_t Key(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value), lower = bits & 0xffff;
  return bits >> 31 ? 0xffff - lower : 0xffff + lower;
}

// Narrows the bin twice, by the upper 9 bits of the key and by the lower 8.
class Picker {
 public:
  Picker(const float* values, std::span<const uint32_t> indices, std::span<uint32_t> scratch)
      : values_(values), indices_(indices), scratch_(scratch) {
    for (uint32_t index : indices_) ++upper_counts_[KeyOf(index) >> 8];
  }

  // Ranks must ascend from call to call.
  uint32_t Pick(int64_t rank) {
    while (rank >= below_ + upper_counts_[upper_]) below_ += upper_counts_[upper_++];
    if (kept_upper_ != upper_) Keep(upper_);
    return PickKept(rank - below_);
  }

 private:
  uint32_t KeyOf(uint32_t index) const { return Key(values_[index]); }

  // Gathers, without a branch, the indices whose key begins with `upper`, and counts how their keys
  // end.
  void Keep(uint32_t upper) {
    kept_upper_ = upper;
    size_t kept = 0;
    for (size_t i = 0; kept < upper_counts_[upper]; ++i) {
      scratch_[kept] = indices_[i];
      kept += (KeyOf(indices_[i]) >> 8) == upper;
    }
    kept_ = scratch_.first(kept);
    lower_counts_.fill(0);
    for (uint32_t index : kept_) ++lower_counts_[KeyOf(index) & 0xff];
  }

  uint32_t PickKept(int64_t rank) const {
    uint32_t lower = 0;
    while (rank >= lower_counts_[lower]) rank -= lower_counts_[lower++];
    for (uint32_t index : kept_)
      if ((KeyOf(index) & 0xff) == lower && rank-- == 0) return index;
    TORUS_CHECK(false, "a rank outlived its bin");
    return 0;
  }

  const float* values_;
  std::span<const uint32_t> indices_;
  std::span<uint32_t> scratch_, kept_;
  std::array<uint32_t, 512> upper_counts_{};
  std::array<uint32_t, 256> lower_counts_{};
  uint32_t upper_ = 0, kept_upper_ = 512;  // 512: none yet
  int64_t below_ = 0;                      // values whose key begins with less than upper_
};

}  // namespace

void PickInBin(const float* values, std::span<const uint32_t> indices,
               std::span<const int64_t> ranks, std::span<uint32_t> scratch,
               std::span<uint32_t> out) {
  const float first = values[indices[0]];
  if (std::all_of(indices.begin(), indices.end(), [&](uint32_t i) { return values[i] == first; })) {
    for (size_t i = 0; i < ranks.size(); ++i) out[i] = indices[ranks[i]];  // zeros after a ReLU
    return;
  }
  Picker picker(values, indices, scratch);
  for (size_t i = 0; i < ranks.size(); ++i) out[i] = picker.Pick(ranks[i]);
}

}  // namespace torus::parallel
