// Remainders, element by element with broadcasting, as torch.remainder and fmod.
// Dtypes and errors as in elementwise.h; not of bool.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// What the quotient rounded down leaves, with the sign of `other`, as Python's %. NaN for a float
// divided by zero. The gradient of `other` is -quotient: the quotient counts as constant.
Variable Remainder(const Variable& input, const Variable& other);
Variable Remainder(const Variable& input, double other);

// What the quotient rounded towards zero leaves, with the sign of the input, as C's fmod. Gradients
// and division by zero as above.
Variable Fmod(const Variable& input, const Variable& other);
Variable Fmod(const Variable& input, double other);

}  // namespace torus::ops
