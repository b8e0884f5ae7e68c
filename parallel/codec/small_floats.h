// SmallFloats: rounds float32 to a smaller floating-point format, to nearest, ties to even.
//
//   f16      11 bits of precision; values beyond 65504 become 65504, the greatest f16
//   bf16     8 bits of precision; what would round to infinity becomes the greatest bf16
//   f8:e4m3  4 bits of precision, greatest 448 (Micikevicius et al., "FP8 formats for deep
//            learning", arXiv:2209.05433; OCP's E4M3, without infinities)
//   f8:e5m2  3 bits, greatest 57344 (the same)
//
// f8 multiplies the whole tensor by a power of two, the greatest for which no value exceeds the
// format's greatest number, and divides by it when decoding.
//
// Error, with p bits of precision: |out - in| <= 2^-p |in| + tiny, where tiny is half the format's
// least denormal number (for f8 divided by the scale). For f16 this holds for |in| up to 65504.
//
// If a value is infinite or NaN, Encode writes nothing (codec.h).
//
// Wire format, little-endian: for f8 the exponent of the scale, 4 bytes signed; then 2 bytes (f8:
// 1) for each value.
#pragma once

#include "parallel/codec/codec.h"
#include "parallel/codec/plain_codec_on_gpu.h"
#include "parallel/codec/small_float_kernel.h"

namespace torus::parallel {

class SmallFloats : public Codec {
 public:
  explicit SmallFloats(SmallFloat format);

  std::string name() const override;
  size_t MaxEncodedBytes(int64_t count) const override;
  size_t Encode(std::span<const float> in, std::span<std::byte> out) override;
  // Also throws BadInput if a number is infinite or NaN, or the scale is out of float32's range.
  void Decode(std::span<const std::byte> in, std::span<float> out) override;
  const GpuCodec* on_gpu() const override;

 private:
  SmallFloat format_;
  PlainCodecOnGpu on_gpu_;
};

}  // namespace torus::parallel
