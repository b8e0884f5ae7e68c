// The logarithm of a sum of exponentials over dimensions, as torch.logsumexp; composed of other
// ops. f32 or f64. Dimensions as in reduction.h.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// log sum exp(x), shifted by the largest element so that nothing overflows; -inf if all elements
// are -inf.
Variable LogSumExp(const Variable& input, const Dims& dims, bool keepdim = false);

}  // namespace torus::ops
