// SortQuantizationOnGpu: sort quantization (sort_quantization.h) on a GPU, with the same bytes and
// decoded values as on the CPU.
#pragma once

#include <string>

#include "parallel/codec/gpu_codec.h"
#include "parallel/codec/sortq_format.h"

namespace torus::parallel {

class SortQuantizationOnGpu : public GpuCodec {
 public:
  // `name` is used in errors.
  SortQuantizationOnGpu(SortqFormat format, std::string name)
      : format_(format), name_(std::move(name)) {}

  // A few hundred KiB, and 2 B / 2048 bytes per value for B buckets.
  size_t ScratchBytes(int64_t count) const override;
  // Also throws BadInput for 2^32 values or more.
  void Encode(const Tensor& in, Tensor& out, Tensor& written, Tensor& scratch) const override;
  void Decode(const Tensor& in, Tensor& out) const override;

 private:
  SortqFormat format_;
  std::string name_;
};

}  // namespace torus::parallel
