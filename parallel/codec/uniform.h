// Uniform quantization: 2^b evenly spaced points from the least value to the greatest, b of 1 to
// 16.
//
// Nearest: |out - in| <= step * (1/2 + 3 * 2^(b - 24)) + ulp(in) / 2, as of one bucket of sort
// quantization (sort_quantization.h), whose points and step these are.
// Stochastic: a value between two points goes to the upper one with the probability of its place
// between them, so that the mean of what is decoded is the value: |out - in| <= step + ulp(in) / 2.
// The random numbers are Philox's of the context's seed, stream, step and micro-batch; value i has
// word i.
//
// A value that is infinite or NaN: Encode writes nothing (codec.h). All values equal: step 0 and
// exact. One bit and a range beyond the greatest float32: step is that float, and the error at most
// half the range.
//
// Wire format, little-endian:
//   offset  bytes          what
//   0       4              the least value, float32
//   4       4              step, float32, at least 0
//   8       ceil(n b / 8)  points, b bits each, packed by bit_pack.h
#pragma once

#include "parallel/codec/codec.h"
#include "parallel/codec/plain_codec_on_gpu.h"

namespace torus::parallel {

class Uniform : public ContextCodec {
 public:
  // BadInput unless 1 <= bits <= 16.
  Uniform(int bits, bool stochastic);

  std::string name() const override;
  size_t MaxTensorBytes(const Shape& shape) const override;
  size_t EncodeTensor(const CodecContext& context, std::span<const float> in,
                      std::span<std::byte> out) override;
  void DecodeTensor(const CodecContext& context, std::span<const std::byte> in,
                    std::span<float> out) override;

  // Not of the stochastic one, whose sums in float64 the CPU's compiler may round once or twice.
  const GpuCodec* on_gpu() const override;

 private:
  int bits_;
  bool stochastic_;
  PlainCodecOnGpu on_gpu_;
};

}  // namespace torus::parallel
