#include "parallel/codec/sort_quantization_on_gpu.h"

#include "parallel/codec/cuda/scratch_layout.h"
#include "parallel/codec/gpu_codec_checks.h"
#include "parallel/codec/kernels.h"
#include "runtime/error.h"

namespace torus::parallel {
size_t SortQuantizationOnGpu::ScratchBytes(int64_t count) const {
  return cuda::LayoutOf(format_, count).bytes;
}

void SortQuantizationOnGpu::Encode(const Tensor& in, Tensor& out, Tensor& written,
                                   Tensor& scratch) const {
  RequireGpuValues(name_, in);
  Require(static_cast<uint64_t>(in.numel()) < (uint64_t{1} << 32), name_,
          "takes fewer than 2^32 values, got {}", in.numel());
  RequireGpuMemory(name_, out, DType::kU8, format_.EncodedBytes(in.numel()), in.device());
  RequireGpuMemory(name_, written, DType::kI64, sizeof(int64_t), in.device());
  RequireGpuMemory(name_, scratch, DType::kU8, ScratchBytes(in.numel()), in.device());
  kernels::SortqEncode(in, format_, out, written, scratch);
}

void SortQuantizationOnGpu::Decode(const Tensor& in, Tensor& out) const {
  RequireGpuValues(name_, out);
  RequireEncoded(name_, in, format_.EncodedBytes(out.numel()), out);
  kernels::SortqDecode(in, format_, out);
}

}  // namespace torus::parallel
