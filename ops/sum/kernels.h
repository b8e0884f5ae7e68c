// The kernel of sums, on the device of its tensors. Tensors are contiguous, f32, f64 or i64, of one
// dtype; i64 is added modulo 2^64, and its divisor is 1.
#pragma once

#include <string_view>

#include "runtime/kernel_table.h"

namespace torus {

// y[o, i] = (sum over c of x[o, c, i]) / divisor. The order of additions depends on the three sizes
// alone, never on the number of threads. Throws BadInput tagged `op` for another dtype.
TORUS_KERNEL(SumMiddle, op, y.device(),
             (std::string_view op, const Tensor& x, double divisor, Tensor& y),
             (op, x, divisor, y));

}  // namespace torus
