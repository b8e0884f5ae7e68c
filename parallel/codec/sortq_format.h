// The sizes of sort quantization's encoded bytes, all of which follow from the bits a value and how
// many of them number the bucket: sort_quantization.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace torus::parallel {

struct SortqFormat {
  static constexpr int kMaxBucketBits = 6;

  int bits = 8;         // 1 to 16
  int for_bucket = -1;  // of them; -1: a quarter, rounded down

  constexpr int bucket_bits() const { return for_bucket < 0 ? bits / 4 : for_bucket; }  // S
  constexpr int step_bits() const { return bits - bucket_bits(); }                      // Q
  constexpr int buckets() const { return 1 << bucket_bits(); }                          // B

  // Of the count, and of each bucket's minimum and step.
  constexpr size_t HeaderBytes() const { return 8 + 8 * static_cast<size_t>(buckets()); }
  constexpr size_t EncodedBytes(int64_t count) const {
    return HeaderBytes() + (static_cast<size_t>(count) * static_cast<size_t>(bits) + 7) / 8;
  }

  // The ranks of the least and of the greatest value of bucket k among count >= 1 sorted ones. An
  // empty bucket borrows its neighbour's least.
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
