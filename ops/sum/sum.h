// Sums on Tensors, for gradient rules: records no graph.
#pragma once

#include "runtime/tensor.h"

namespace torus::ops {

// Sum over `reduced` (as ReducedDims gives them), divided by `divisor`; f32, f64, or i64 without a
// divisor, with any strides; the result is contiguous. Its bits do not depend on the number of
// threads.
Tensor SumOver(std::string_view op, const Tensor& input, const Dims& reduced, bool keepdim,
               double divisor = 1);

// The gradient of broadcasting: sums `grad` back to `shape`, which broadcasts to grad's. Returns
// `grad` itself if nothing was broadcast.
Tensor SumTo(const Tensor& grad, const Shape& shape);

}  // namespace torus::ops
