// Running sums along a dimension, as torch.cumsum.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// out[..., i, ...] = input[..., 0, ...] + ... + input[..., i, ...] along `dim`. Any strides; the
// running sum of floats is f64 and each element is rounded once. Integers and bool give i64, which
// wraps around. Throws BadInput for a dimension outside of the rank.
Variable Cumsum(const Variable& input, int64_t dim);

}  // namespace torus::ops
