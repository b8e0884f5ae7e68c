// Powers, element by element with broadcasting, as torch.pow.
// Dtypes and errors as in elementwise.h.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// input ^ exponent; NaN for a negative input and an exponent that is no whole number. The
// numbers 0.5 and -0.5 are roots: NaN at -infinity, where a tensor's power is infinity or 0, and
// odd at -0. At 0 the gradients are PyTorch's: none of the exponent, and none of the input where
// the exponent is 0.
Variable Pow(const Variable& input, const Variable& exponent);
Variable Pow(const Variable& input, double exponent);
Variable Pow(double input, const Variable& exponent);

}  // namespace torus::ops
