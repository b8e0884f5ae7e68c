// SortQuantization: b = Q + S bits per value, S for its bucket and Q for a step within the bucket.
// In `sortq:b`, S is a quarter of b, rounded down.
//
// The n values are sorted and divided into B = 2^S buckets of equal counts: bucket k holds the
// ranks from floor(k n / B) up to, but not including, floor((k + 1) n / B), so counts differ by at
// most one (with n < B some buckets are empty). Each bucket has 2^Q evenly spaced points from its
// minimum to its maximum; a value is sent as its bucket and its nearest point. Buckets are narrow
// where values are dense, so the error follows the distribution, and an outlier affects only its
// own bucket. The cuts are those of an exact sort, found by histogram selection
// (order_statistics.h) in three passes over the input. On a GPU (sort_quantization_on_gpu.h) other
// passes find the same cuts.
//
//   name          b   S  B   Q
//   sortq:16      16  4  16  12
//   sortq:12      12  3  8   9
//   sortq:8       8   2  4   6
//   sortq:4       4   1  2   3
//   sortq:Q5S3    8   3  8   5
//
// Ties: equal values (-0 equals 0) are ordered by their indices. If a cut falls within a run of
// equal values, those with lower indices go to the lower bucket. Such a value is restored as the
// maximum of one bucket or the minimum of the next.
//
// Error: a value is restored within half a step of its bucket, up to float32 rounding:
//   |out - in| <= step * (1/2 + 3 * 2^(Q - 24)) + ulp(in) / 2
// The step is (maximum - minimum) / (2^Q - 1), rounded to float32 (down if normal, so that nothing
// overflows; up if denormal, so that the maximum is reached). Denormals are treated like other
// values. A bucket whose values are all equal (a constant input, one element, no input) has step 0
// and is restored exactly, except that -0 may become 0.
//
// If a value is infinite or NaN, Encode writes nothing and returns 0 (codec.h). Clamping it would
// hide that the step has diverged, and in a scale it would turn a whole bucket into NaN.
//
// Wire format, little-endian; EncodedBytes gives its exact size:
//   offset         bytes            what
//   0              8                n, unsigned
//   8 + 8 k        4                minimum of bucket k = 0 .. B - 1, float32; 0 when empty
//   12 + 8 k       4                step of bucket k, float32; 0 when empty
//   8 + 8 B        ceil(n b / 8)    codes bucket << Q | point, b bits each, packed by bit_pack.h
#pragma once

#include "parallel/codec/codec.h"
#include "parallel/codec/sort_quantization_on_gpu.h"
#include "parallel/codec/sortq_format.h"

namespace torus::parallel {

class SortQuantization : public Codec {
 public:
  // Throws BadInput unless 1 <= Q, 0 <= S <= SortqFormat::kMaxBucketBits and Q + S <= 16.
  explicit SortQuantization(SortqFormat format);
  explicit SortQuantization(int bits) : SortQuantization(SortqFormat{bits}) {}

  int bits() const { return format_.bits; }
  int bucket_bits() const { return format_.bucket_bits(); }  // S
  int step_bits() const { return format_.step_bits(); }      // Q
  int buckets() const { return format_.buckets(); }          // B

  // 8 + 8 B + ceil(count b / 8).
  size_t EncodedBytes(int64_t count) const { return format_.EncodedBytes(count); }

  std::string name() const override { return name_; }
  size_t MaxEncodedBytes(int64_t count) const override { return EncodedBytes(count); }
  // "sortq:8", or "sortq:Q5S3" if S is not a quarter of the bits.
  static std::string NameOf(SortqFormat format);

  // Also throws BadInput for 2^32 values or more.
  size_t Encode(std::span<const float> in, std::span<std::byte> out) override;
  // Also throws BadInput if a minimum or step is not finite, or a step is negative.
  void Decode(std::span<const std::byte> in, std::span<float> out) override;
  // Exists for sortq:16, sortq:12, sortq:8 and sortq:4.
  const GpuCodec* on_gpu() const override;

 private:
  SortqFormat format_;
  std::string name_;
  SortQuantizationOnGpu on_gpu_;
};

}  // namespace torus::parallel
