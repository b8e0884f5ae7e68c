// The largest element over dimensions, as torch.amax and argmax. f32 or f64; NaN is larger than
// every number. Dimensions as in reduction.h; BadInput where there is nothing to choose from.
#pragma once

#include <optional>

#include "autograd/variable.h"

namespace torus::ops {

// Equal elements share the gradient evenly; where the largest is NaN, all have NaN.
Variable Amax(const Variable& input, const Dims& dims = {}, bool keepdim = false);

// i64 place along `dim`, or in the flattened input without one; the first of equals.
Tensor Argmax(const Tensor& input, std::optional<int64_t> dim = {}, bool keepdim = false);

}  // namespace torus::ops
