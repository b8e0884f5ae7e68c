// What GpuCodec's functions ask of their tensors; BadInput, tagged `op`, where one is not so.
#pragma once

#include <string_view>

#include "runtime/tensor.h"

namespace torus::parallel {

// Contiguous f32, bf16 or f16 on a GPU.
void RequireGpuValues(std::string_view op, const Tensor& values);
// Contiguous memory of `dtype` on `device`, of at least `bytes`, aligned to 8 bytes.
void RequireGpuMemory(std::string_view op, const Tensor& memory, DType dtype, size_t bytes,
                      Device device);
// Exactly as many bytes of u8 as `values` are encoded to.
void RequireEncoded(std::string_view op, const Tensor& encoded, size_t bytes, const Tensor& values);

}  // namespace torus::parallel
