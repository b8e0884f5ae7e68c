// Powers, element by element with broadcasting, as torch.pow.
// Dtypes and errors as in elementwise.h.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// input ^ exponent; NaN for a negative input and a fractional exponent. An exponent given as the
// number 0.5 or -0.5 is computed as a square root: NaN at -infinity, where the same exponent as a
// tensor gives infinity or 0, and the sign of -0 is kept. Gradients at 0 are PyTorch's: zero for an
// exponent that is not negative, and zero for the input if the exponent is 0.
Variable Pow(const Variable& input, const Variable& exponent);
Variable Pow(const Variable& input, double exponent);
Variable Pow(double input, const Variable& exponent);

}  // namespace torus::ops
