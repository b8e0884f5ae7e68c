// Reductions over dimensions, as torch.sum and mean.
//
// Inputs have any strides. `dims` may be negative; an empty list means all. With
// keepdim the reduced dimensions stay with size 1. Throws BadInput for a dimension outside of the
// rank or named twice.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// Zero over no elements. Integers and bool give i64, which wraps around.
Variable Sum(const Variable& input, const Dims& dims = {}, bool keepdim = false);

// NaN over no elements. Throws BadInput for integers and bool.
Variable Mean(const Variable& input, const Dims& dims = {}, bool keepdim = false);

}  // namespace torus::ops
