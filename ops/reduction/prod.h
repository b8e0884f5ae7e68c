// Products over dimensions, as torch.prod, which has one dimension or all.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// One over no elements. The running product of f32 is f64. Integers and bool give i64, which wraps
// around. An element's gradient is the product of the others, zeros among them or not. Dimensions
// as in reduction.h.
Variable Prod(const Variable& input, const Dims& dims = {}, bool keepdim = false);

}  // namespace torus::ops
