// A map along one dimension of a Tensor: for gradient rules, records no graph.
#pragma once

#include <string_view>

#include "ops/resampling/axis_taps.h"
#include "runtime/tensor.h"

namespace torus::ops {

// The contiguous x, f32 or f64, with taps.out() in the place of taps.in elements along `dim`.
Tensor MappedAlong(std::string_view op, const Tensor& x, int dim, const AxisTaps& taps);

}  // namespace torus::ops
