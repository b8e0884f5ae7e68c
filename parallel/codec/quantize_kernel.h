// The two inner loops of sort quantization, over float32 values in memory. Highway picks the vector
// width at run time; every width from x86-64-v3 and Armv8 on gives the same bits.
#pragma once

#include <array>
#include <cstdint>

namespace torus::parallel {

inline constexpr int kMaxBuckets = 64;

// A value's code is bucket << step_bits | step number within the bucket.
struct BucketScale {
  int buckets = 0;    // a power of two up to kMaxBuckets
  int step_bits = 0;  // 2^step_bits values are representable in a bucket
  std::array<float, kMaxBuckets> minimum{};
  std::array<float, kMaxBuckets> step{};  // 0: all values of the bucket equal its minimum
};

// A value is in bucket k >= 1 or above if it is at least threshold[k].
using Thresholds = std::array<float, kMaxBuckets>;

// Sets codes[i] for in[i]: the bucket by comparison, then the nearest step (ties to even).
//
// Error bound: |in - (minimum + step * number)| <= step * (1/2 + 3 * 2^(step_bits - 24)). The
// second term stands for three float32 roundings (difference, reciprocal, product) of a quotient
// below 2^step_bits. Steps must be 0 or at least 2^-126, and differences of values within a bucket
// must not overflow; otherwise use QuantizeWide.
void Quantize(const float* in, int64_t count, const BucketScale& scale, const Thresholds& threshold,
              uint16_t* codes);

// The same in float64, without vectors, for scales where float32 would overflow or lose bits:
// denormal steps, and buckets wider than the largest float.
void QuantizeWide(const float* in, int64_t count, const BucketScale& scale,
                  const Thresholds& threshold, uint16_t* codes);

// out[i] = minimum + step * number for codes[i], rounded once (fused multiply-add).
void Dequantize(const uint16_t* codes, int64_t count, const BucketScale& scale, float* out);

}  // namespace torus::parallel
