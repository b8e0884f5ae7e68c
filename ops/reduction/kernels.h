// What reductions ask of a device, beyond sums (ops/sum/kernels.h). Tensors are contiguous; values
// are f32 or f64, BadInput tagged `op` for another dtype.
#pragma once

#include "ops/reduction/cpu/cumsum.h"
#include "ops/reduction/cpu/extremum.h"
#include "ops/reduction/cuda/reduction.h"
#include "runtime/gpu_door.h"

namespace torus::kernels {

// value[o] = max over c of x[o, c], and where[o] (i64) the first c that has it. NaN is larger than
// every number. x is (outer, count), count >= 1 where outer is.
inline void LargestOfRows(std::string_view op, const Tensor& x, Tensor& value, Tensor& where) {
  AtDoor(
      op, value.device(), [&] { cpu::LargestOfRows(op, x, value, where); },
      [&](StreamHandle stream) { cuda::LargestOfRows(op, x, value, where, stream); });
}

// y[o, c, i] = sum of x[o, k, i] over k <= c, or over k >= c with `reverse`; one f64 sum
// runs along.
inline void Cumsum(const Tensor& x, bool reverse, Tensor& y) {
  AtDoor(
      "cumsum", y.device(), [&] { cpu::Cumsum(x, reverse, y); },
      [&](StreamHandle stream) { cuda::Cumsum(x, reverse, y, stream); });
}

}  // namespace torus::kernels
