// Variance over dimensions, as torch.var; composed of other ops. f32 or f64. Dimensions as in
// reduction.h.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// sum (x - mean)^2 / max(0, n - correction); correction 1 is Bessel's, 0 the population's variance.
Variable Var(const Variable& input, const Dims& dims = {}, double correction = 1,
             bool keepdim = false);

}  // namespace torus::ops
