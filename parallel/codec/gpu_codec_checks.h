// Checks of the tensors given to GpuCodec. They throw BadInput, tagged `op`, unless a tensor is as
// follows.
#pragma once

#include <string_view>

#include "runtime/tensor.h"

namespace torus::parallel {

// Contiguous f32, bf16 or f16 on a GPU.
void RequireGpuValues(std::string_view op, const Tensor& values);
// Contiguous memory of `dtype` on `device`, of at least `bytes`, aligned to 8 bytes.
void RequireGpuMemory(std::string_view op, const Tensor& memory, DType dtype, size_t bytes,
                      Device device);
// Contiguous u8 on the device of `values`, of exactly `bytes`, the encoded size of `values`.
void RequireEncoded(std::string_view op, const Tensor& encoded, size_t bytes, const Tensor& values);

}  // namespace torus::parallel
