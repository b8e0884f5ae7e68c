// The largest element over dimensions, as torch.amax and argmax. f32 or f64; NaN counts as larger
// than any number. Dimensions as in reduction.h. Throws BadInput for a maximum over no elements.
#pragma once

#include <optional>

#include "autograd/variable.h"

namespace torus::ops {

// Equal largest elements share the gradient evenly; if the largest is NaN, all gradients are NaN.
Variable Amax(const Variable& input, const Dims& dims = {}, bool keepdim = false);

// The i64 index along `dim`, or in the flattened input if no `dim` is given; the first of equal
// elements.
Tensor Argmax(const Tensor& input, std::optional<int64_t> dim = {}, bool keepdim = false);

}  // namespace torus::ops
