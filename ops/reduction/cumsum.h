// Running sums along a dimension, as torch.cumsum.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// out[..., i, ...] = input[..., 0, ...] + ... + input[..., i, ...] along `dim`. f32 or f64 with any
// strides; the running sum is f64 and each element is rounded once. Throws BadInput for a dimension
// outside of the rank.
Variable Cumsum(const Variable& input, int64_t dim);

}  // namespace torus::ops
