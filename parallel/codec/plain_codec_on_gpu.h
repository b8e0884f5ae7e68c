// PlainCodecOnGpu: uniform quantization (uniform.h, except the stochastic one), small floats
// (small_floats.h) and dynamic8 (dynamic8.h) on a GPU, with the same bytes and decoded values as on
// the CPU. Bytes that no encoder writes become NaN.
#pragma once

#include <string>

#include "parallel/codec/gpu_codec.h"
#include "parallel/codec/plain_format.h"

namespace torus::parallel {

class PlainCodecOnGpu : public GpuCodec {
 public:
  // `name` is used in errors.
  PlainCodecOnGpu(PlainFormat format, std::string name) : format_(format), name_(std::move(name)) {}

  const PlainFormat& format() const { return format_; }

  size_t ScratchBytes(int64_t count) const override;
  void Encode(const Tensor& in, Tensor& out, Tensor& written, Tensor& scratch) const override;
  void Decode(const Tensor& in, Tensor& out) const override;

 private:
  PlainFormat format_;
  std::string name_;
};

}  // namespace torus::parallel
