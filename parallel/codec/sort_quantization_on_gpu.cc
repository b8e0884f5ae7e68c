#include "parallel/codec/sort_quantization_on_gpu.h"

#include <string_view>

#include "parallel/codec/cuda/scratch_layout.h"
#include "parallel/codec/kernels.h"

namespace torus::parallel {
namespace {

bool IsAligned(const Tensor& tensor) { return reinterpret_cast<uintptr_t>(tensor.raw()) % 8 == 0; }

void RequireValues(std::string_view op, const Tensor& values) {
  Require(values.device().kind == DeviceKind::kCuda, op, "needs values on a GPU, got {}", values);
  Require(IsFloating(values.dtype()) && values.dtype() != DType::kF64, op,
          "needs f32, bf16 or f16, got {}", values);
  Require(values.is_contiguous(), op, "needs contiguous values, got strides {} of {}",
          values.strides(), values);
}

// As the codec's memory is asked for.
void RequireMemory(std::string_view op, const Tensor& memory, DType dtype, size_t bytes,
                   Device device) {
  Require(memory.dtype() == dtype && memory.is_contiguous() && memory.bytes() >= bytes, op,
          "needs contiguous {} of at least {} bytes, got {}", Name(dtype), bytes, memory);
  Require(memory.device() == device, op, "needs memory on {}, got {}", device, memory);
  Require(IsAligned(memory), op, "needs memory aligned to 8 bytes, got {} at {}", memory,
          memory.raw());
}

}  // namespace

size_t SortQuantizationOnGpu::ScratchBytes(int64_t count) const {
  return cuda::LayoutOf(format_, count).bytes;
}

void SortQuantizationOnGpu::Encode(const Tensor& in, Tensor& out, Tensor& written,
                                   Tensor& scratch) const {
  RequireValues(name_, in);
  Require(static_cast<uint64_t>(in.numel()) < (uint64_t{1} << 32), name_,
          "takes fewer than 2^32 values, got {}", in.numel());
  RequireMemory(name_, out, DType::kU8, format_.EncodedBytes(in.numel()), in.device());
  RequireMemory(name_, written, DType::kI64, sizeof(int64_t), in.device());
  RequireMemory(name_, scratch, DType::kU8, ScratchBytes(in.numel()), in.device());
  kernels::SortqEncode(in, format_, out, written, scratch);
}

void SortQuantizationOnGpu::Decode(const Tensor& in, Tensor& out) const {
  RequireValues(name_, out);
  const size_t bytes = format_.EncodedBytes(out.numel());
  RequireMemory(name_, in, DType::kU8, 0, out.device());
  Require(in.bytes() == bytes, name_, "{} values are {} bytes, got {}", out.numel(), bytes,
          in.bytes());
  kernels::SortqDecode(in, format_, out);
}

}  // namespace torus::parallel
