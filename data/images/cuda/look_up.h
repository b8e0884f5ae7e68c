// Normalisation by table on a GPU.
#pragma once

#include "runtime/tensor.h"

namespace torus::data::cuda {

// out[i] = table[i mod C][images[i]]: `images` u8 (..., C), `table` f32 (C, 256), `out` f32 of the
// images' shape; contiguous, on one GPU.
void LookUp(const Tensor& images, const Tensor& table, Tensor& out, StreamHandle stream);

}  // namespace torus::data::cuda
