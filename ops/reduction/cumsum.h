// Running sums along a dimension, as torch.cumsum.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// out[..., i, ...] = input[..., 0, ...] + ... + input[..., i, ...] along `dim`. f32 or f64 of any
// strides; sums are kept in f64 and rounded once an element. BadInput for a dimension outside of
// the rank.
Variable Cumsum(const Variable& input, int64_t dim);

}  // namespace torus::ops
