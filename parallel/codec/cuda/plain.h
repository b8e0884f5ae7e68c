// Uniform quantization, small floats and dynamic8 on a GPU. parallel/codec/gpu_codec.h has the
// contracts.
#pragma once

#include "parallel/codec/plain_format.h"
#include "runtime/tensor.h"

namespace torus::parallel::cuda {

// The 256 numbers of dynamic8, ascending, and the middles between them (nearest_number.h).
struct Numbers8 {
  float numbers[256] = {};
  float middles[256] = {};
};

inline constexpr size_t kPlainScratch = 64;  // bytes

// `numbers` is used by dynamic8 only.
void PlainEncode(const Tensor& in, const PlainFormat& format, const Numbers8& numbers, Tensor& out,
                 Tensor& written, Tensor& scratch, StreamHandle stream);
void PlainDecode(const Tensor& in, const PlainFormat& format, const Numbers8& numbers, Tensor& out,
                 StreamHandle stream);

}  // namespace torus::parallel::cuda
