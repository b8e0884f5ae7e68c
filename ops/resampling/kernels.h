// The kernel of maps along one dimension, on the device of its tensors, which are contiguous, f32
// or f64, of one dtype.
#pragma once

#include <string_view>

#include "ops/resampling/axis_taps.h"
#include "runtime/kernel_table.h"

namespace torus {

// y[o, i, k] = sum of weight x[o, at, k] over the taps of output i, in their order; 0 without taps.
// Weights are cast to the dtype. Throws BadInput tagged `op` for another dtype.
TORUS_KERNEL(ApplyTaps, op, y.device(),
             (std::string_view op, const ops::AxisTaps& taps, const Tensor& x, Tensor& y),
             (op, taps, x, y));

}  // namespace torus
