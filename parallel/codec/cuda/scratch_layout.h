// The scratch memory of sort quantization on a GPU while it encodes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "parallel/codec/sortq_format.h"

namespace torus::parallel::cuda {

inline constexpr int kMostBuckets = 16;
inline constexpr int kMostRanks = 2 * kMostBuckets;  // each bucket's first and last
inline constexpr int kDigits = 256;
inline constexpr int64_t kPartValues = 8192;  // in which one block counts equal values

// The state of the search for the values at some ranks, digit by digit of their keys (sort_key.h).
struct Search {
  // Slots: the distinct prefixes (digits found so far) of the wanted values, ascending.
  uint32_t slots;
  uint32_t prefix[kMostRanks];
  // For each rank: its slot, and its place among the values of that slot; in the end, its place
  // among equal values.
  uint32_t slot[kMostRanks];
  uint32_t place[kMostRanks];
  // For each rank with `by_index` set: the index of its value; otherwise 0.
  uint32_t by_index[kMostRanks];
  uint32_t index[kMostRanks];
  uint32_t any_by_index;
  uint32_t non_finite;  // 1: a value is infinite or NaN
};

// The bounds that put each value into its bucket, and each bucket's scale.
struct Cuts {
  // A value is in bucket k >= 1 or above if (its key << 32 | its index) is at least this.
  uint64_t least[kMostBuckets];
  float minimum[kMostBuckets];
  float step[kMostBuckets];
  uint32_t wide;  // 1: codes are computed in float64 (quantize_kernel.h)
};

// Offsets in bytes.
struct ScratchLayout {
  size_t search = 0, cuts = 0;
  size_t totals = 0;  // u32 [rank][digit]
  size_t parts = 0;   // u32 [part][rank]: how many values of a part equal a slot's value
  size_t bytes = 0;   // total size
};

inline int64_t PartsOf(int64_t count) { return (count + kPartValues - 1) / kPartValues; }

inline ScratchLayout LayoutOf(SortqFormat format, int64_t count) {
  constexpr size_t kAlignment = 256;
  const size_t ranks = 2 * static_cast<size_t>(format.buckets());
  ScratchLayout layout;
  const auto add = [&](size_t bytes) {
    const size_t begin = layout.bytes;
    layout.bytes += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return begin;
  };
  layout.search = add(sizeof(Search));
  layout.cuts = add(sizeof(Cuts));
  layout.totals = add(ranks * kDigits * sizeof(uint32_t));
  layout.parts = add(static_cast<size_t>(PartsOf(count)) * ranks * sizeof(uint32_t));
  return layout;
}

}  // namespace torus::parallel::cuda
