#include "parallel/codec/gpu_codec_checks.h"

#include "runtime/error.h"

namespace torus::parallel {
namespace {

bool IsAligned(const Tensor& tensor) { return reinterpret_cast<uintptr_t>(tensor.raw()) % 8 == 0; }

}  // namespace

void RequireGpuValues(std::string_view op, const Tensor& values) {
  Require(values.device().kind == DeviceKind::kCuda, op, "needs values on a GPU, got {}", values);
  Require(IsFloating(values.dtype()) && values.dtype() != DType::kF64, op,
          "needs f32, bf16 or f16, got {}", values);
  Require(values.is_contiguous(), op, "needs contiguous values, got strides {} of {}",
          values.strides(), values);
}

void RequireGpuMemory(std::string_view op, const Tensor& memory, DType dtype, size_t bytes,
                      Device device) {
  Require(memory.dtype() == dtype && memory.is_contiguous() && memory.bytes() >= bytes, op,
          "needs contiguous {} of at least {} bytes, got {}", Name(dtype), bytes, memory);
  Require(memory.device() == device, op, "needs memory on {}, got {}", device, memory);
  Require(IsAligned(memory), op, "needs memory aligned to 8 bytes, got {} at {}", memory,
          memory.raw());
}

void RequireEncoded(std::string_view op, const Tensor& encoded, size_t bytes,
                    const Tensor& values) {
  RequireGpuMemory(op, encoded, DType::kU8, 0, values.device());
  Require(encoded.bytes() == bytes, op, "{} values are {} bytes, got {}", values.numel(), bytes,
          encoded.bytes());
}

}  // namespace torus::parallel
