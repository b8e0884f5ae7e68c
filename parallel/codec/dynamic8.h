// Block-wise dynamic quantization to 8 bits (Dettmers et al., "8-bit optimizers via block-wise
// quantization", arXiv:2110.02861, section 1.3 and 2): each block of values is divided by its
// greatest magnitude, and each quotient becomes the nearest of 256 numbers that lie closer together
// towards zero.
//
// The numbers, besides 0 and 1: for e = 0 ... 6 the two signs of 10^(e - 6) times the middles of
// 2^e equal parts of [0.1, 1].
//
// Error: with A the greatest magnitude of the block, |out - in| <= A / 2 times the gap of the two
// numbers around in / A (below -0.993, the least number: the distance to it), and two roundings
// of float32. The gap is at most 0.0141; within a decade 10^(e - 6) it is 0.9 * 2^-e of it.
//
// A value that is infinite or NaN: Encode writes nothing (codec.h).
//
// Wire format, little-endian: the greatest magnitude of each block, float32; then a byte a value,
// its place among the numbers in ascending order.
#pragma once

#include "parallel/codec/codec.h"
#include "parallel/codec/plain_codec_on_gpu.h"

namespace torus::parallel {

class Dynamic8 : public Codec {
 public:
  static constexpr int64_t kUsualBlock = 2048;

  // Values in a block; BadInput unless 1 to 2^20.
  explicit Dynamic8(int64_t block = kUsualBlock);

  // The 256 numbers, ascending.
  static std::span<const float> Numbers();

  std::string name() const override;
  size_t MaxEncodedBytes(int64_t count) const override;
  size_t Encode(std::span<const float> in, std::span<std::byte> out) override;
  // BadInput also where a block's magnitude is not finite or negative.
  void Decode(std::span<const std::byte> in, std::span<float> out) override;
  const GpuCodec* on_gpu() const override;

 private:
  int64_t block_;
  PlainCodecOnGpu on_gpu_;
};

}  // namespace torus::parallel
