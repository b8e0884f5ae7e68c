// The raw kernels on a GPU. runtime/kernels.h is the public interface and checks the arguments.
// These do not check.
#pragma once

#include <cstdint>

#include "runtime/broadcast.h"
#include "runtime/cuda_api.h"
#include "runtime/dtype.h"

namespace torus::cuda {

// Sets `count` elements of GPU memory to `value`, cast to `dtype`.
void Fill(void* out, DType dtype, int64_t count, double value, StreamHandle stream);

// Copies `in` to `out` along a plan over (in, out), and casts. Both are in the same GPU's memory
// and may not overlap.
void CopyStrided(const void* in, DType from, void* out, DType to, const BroadcastPlan& plan,
                 StreamHandle stream);

// out[i] += in[i]; any dtype but u8 and bool.
void AddInPlace(void* out, const void* in, DType dtype, int64_t count, StreamHandle stream);

// out[i] *= factor; f32 or f64.
void ScaleInPlace(void* out, DType dtype, int64_t count, double factor, StreamHandle stream);

// out[i] = i, cast to `dtype`.
void FillArange(void* out, DType dtype, int64_t count, StreamHandle stream);

}  // namespace torus::cuda
