// Sort quantization on a GPU. parallel/codec/gpu_codec.h has the contracts.
#pragma once

#include "parallel/codec/sortq_format.h"
#include "runtime/tensor.h"

namespace torus::parallel::cuda {

void SortqEncode(const Tensor& in, SortqFormat format, Tensor& out, Tensor& written,
                 Tensor& scratch, StreamHandle stream);
void SortqDecode(const Tensor& in, SortqFormat format, Tensor& out, StreamHandle stream);

}  // namespace torus::parallel::cuda
