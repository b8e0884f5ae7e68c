// Dynamic8: block-wise dynamic quantization to 8 bits (Dettmers et al., "8-bit optimizers via
// block-wise quantization", arXiv:2110.02861, section 1.3 and 2). Each block of values is divided
// by its greatest magnitude, and each quotient is replaced by the nearest of 256 numbers, which lie
// closer together near zero.
//
// The numbers are 0, 1, and for e = 0 ... 6, with both signs, 10^(e - 6) times the middles of 2^e
// equal parts of [0.1, 1].
//
// Error: with A the greatest magnitude of the block, |out - in| <= A / 2 times the gap between the
// two numbers around in / A (below -0.993, the least number: the distance to it), plus two float32
// roundings. The gap is at most 0.0141; in the decade 10^(e - 6) it is 0.9 * 2^-e of the decade.
//
// If a value is infinite or NaN, Encode writes nothing (codec.h).
//
// Wire format, little-endian: the greatest magnitude of each block, float32; then one byte per
// value, the index of its number in ascending order.
#pragma once

#include "parallel/codec/codec.h"
#include "parallel/codec/plain_codec_on_gpu.h"

namespace torus::parallel {

class Dynamic8 : public Codec {
 public:
  static constexpr int64_t kUsualBlock = 2048;

  // `block` is the number of values in a block. Throws BadInput unless it is 1 to 2^20.
  explicit Dynamic8(int64_t block = kUsualBlock);

  // The 256 numbers, ascending.
  static std::span<const float> Numbers();

  std::string name() const override;
  size_t MaxEncodedBytes(int64_t count) const override;
  size_t Encode(std::span<const float> in, std::span<std::byte> out) override;
  // Also throws BadInput if a block's magnitude is infinite, NaN or negative.
  void Decode(std::span<const std::byte> in, std::span<float> out) override;
  const GpuCodec* on_gpu() const override;

 private:
  int64_t block_;
  PlainCodecOnGpu on_gpu_;
};

}  // namespace torus::parallel
