// The kernel of sums, on the device of its tensors. Tensors are contiguous, f32 or f64, of one
// dtype.
#pragma once

#include "ops/sum/cpu/sum.h"
#include "ops/sum/cuda/sum.h"
#include "runtime/gpu_door.h"

namespace torus::kernels {

// y[o, i] = (sum over c of x[o, c, i]) / divisor. The order of additions depends on the three sizes
// alone, never on the number of threads. Throws BadInput tagged `op` for another dtype.
inline void SumMiddle(std::string_view op, const Tensor& x, double divisor, Tensor& y) {
  AtDoor(
      op, y.device(), [&] { cpu::SumMiddle(op, x, divisor, y); },
      [&](StreamHandle stream) { cuda::SumMiddle(op, x, divisor, y, stream); });
}

}  // namespace torus::kernels
