// The kernels of reductions other than sums (ops/sum/kernels.h), on the device of their tensors.
// Tensors are contiguous and values f32 or f64; throws BadInput tagged `op` for other dtypes.
#pragma once

#include "ops/reduction/cpu/cumsum.h"
#include "ops/reduction/cpu/extremum.h"
#include "ops/reduction/cuda/reduction.h"
#include "runtime/gpu_door.h"

namespace torus::kernels {

// value[o] = max over c of x[o, c], and where[o] (i64) the first c that has it. NaN counts as
// larger than any number. x is (outer, count); count >= 1 unless outer is 0.
inline void LargestOfRows(std::string_view op, const Tensor& x, Tensor& value, Tensor& where) {
  AtDoor(
      op, value.device(), [&] { cpu::LargestOfRows(op, x, value, where); },
      [&](StreamHandle stream) { cuda::LargestOfRows(op, x, value, where, stream); });
}

// y[o, c, i] = sum of x[o, k, i] over k <= c, or over k >= c with `reverse`; the running sum is
// f64.
inline void Cumsum(const Tensor& x, bool reverse, Tensor& y) {
  AtDoor(
      "cumsum", y.device(), [&] { cpu::Cumsum(x, reverse, y); },
      [&](StreamHandle stream) { cuda::Cumsum(x, reverse, y, stream); });
}

}  // namespace torus::kernels
