// SortqFormat: the sizes of sort quantization (sort_quantization.h), all of which follow from the
// bits per value and how many of them number the bucket.
#pragma once

#include <cstddef>
#include <cstdint>

namespace torus::parallel {

struct SortqFormat {
  static constexpr int kMaxBucketBits = 6;

  int bits = 8;         // 1 to 16
  int for_bucket = -1;  // how many of `bits`; -1: a quarter, rounded down

  constexpr int bucket_bits() const { return for_bucket < 0 ? bits / 4 : for_bucket; }  // S
  constexpr int step_bits() const { return bits - bucket_bits(); }                      // Q
  constexpr int buckets() const { return 1 << bucket_bits(); }                          // B

  // The count, and each bucket's minimum and step.
  constexpr size_t HeaderBytes() const { return 8 + 8 * static_cast<size_t>(buckets()); }
  constexpr size_t EncodedBytes(int64_t count) const {
    return HeaderBytes() + (static_cast<size_t>(count) * static_cast<size_t>(bits) + 7) / 8;
  }

  // The ranks of the minimum and maximum of bucket k among `count` >= 1 sorted values. For an empty
  // bucket both are the first rank of the next bucket.
  constexpr int64_t FirstRank(int64_t count, int k) const { return count * k / buckets(); }
  constexpr int64_t LastRank(int64_t count, int k) const {
    const int64_t first = FirstRank(count, k), next = FirstRank(count, k + 1);
    return first < next ? next - 1 : first;
  }
  constexpr bool IsEmpty(int64_t count, int k) const {
    return FirstRank(count, k) == FirstRank(count, k + 1);
  }
};

}  // namespace torus::parallel
