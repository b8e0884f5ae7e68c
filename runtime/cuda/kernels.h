// The raw kernels on a GPU, over contiguous memory. kernels.h is the public face and checks; these
// assume.
#pragma once

#include <cstdint>

#include "runtime/cuda_api.h"
#include "runtime/dtype.h"

namespace torus::cuda {

// Sets `count` elements of GPU memory to `value`, cast to `dtype`.
void Fill(void* out, DType dtype, int64_t count, double value, StreamHandle stream);

// Casts `count` elements, both in the same GPU's memory; from and to may not overlap.
void Cast(const void* in, DType from, void* out, DType to, int64_t count, StreamHandle stream);

}  // namespace torus::cuda
