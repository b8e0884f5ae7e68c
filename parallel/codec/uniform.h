// Uniform: uniform quantization to 2^b evenly spaced points from the minimum to the maximum, b = 1
// to 16.
//
// Nearest: |out - in| <= step * (1/2 + 3 * 2^(b - 24)) + ulp(in) / 2, as for one bucket of sort
// quantization (sort_quantization.h), whose points and step these are.
// Stochastic: a value between two points is rounded up with a probability equal to its relative
// position between them, so the mean of the decoded values is the value: |out - in| <= step +
// ulp(in) / 2. The random numbers are Philox's for the context's seed, stream, step and
// micro-batch; value i uses word i.
//
// If a value is infinite or NaN, Encode writes nothing (codec.h). If all values are equal, the step
// is 0 and they are restored exactly. With one bit and a range beyond the greatest float32, the
// step is that float, and the error is at most half the range.
//
// Wire format, little-endian:
//   offset  bytes          what
//   0       4              the minimum, float32
//   4       4              step, float32, at least 0
//   8       ceil(n b / 8)  points, b bits each, packed by bit_pack.h
#pragma once

#include "parallel/codec/codec.h"
#include "parallel/codec/plain_codec_on_gpu.h"

namespace torus::parallel {

class Uniform : public ContextCodec {
 public:
  // Throws BadInput unless 1 <= bits <= 16.
  Uniform(int bits, bool stochastic);

  std::string name() const override;
  size_t MaxTensorBytes(const Shape& shape) const override;
  size_t EncodeTensor(const CodecContext& context, std::span<const float> in,
                      std::span<std::byte> out) override;
  void DecodeTensor(const CodecContext& context, std::span<const std::byte> in,
                    std::span<float> out) override;

  // Null if stochastic: the CPU's compiler may round its float64 sums once or twice, so the bits of
  // a GPU could differ.
  const GpuCodec* on_gpu() const override;

 private:
  int bits_;
  bool stochastic_;
  PlainCodecOnGpu on_gpu_;
};

}  // namespace torus::parallel
