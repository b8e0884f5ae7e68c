// The larger and the smaller of two tensors, and powers, element by element with broadcasting, as
// torch.maximum, minimum, clamp and pow. Dtypes and errors as in elementwise.h.
#pragma once

#include <optional>

#include "autograd/variable.h"

namespace torus::ops {

// NaN wins over every number. Equal elements share the gradient in halves.
Variable Maximum(const Variable& input, const Variable& other);
Variable Minimum(const Variable& input, const Variable& other);

// min(max(input, min), max); either bound may be undefined, not both. The input has the gradient
// within the bounds, both ends included; else the bound that was taken.
Variable Clamp(const Variable& input, const Variable& min, const Variable& max);
Variable Clamp(const Variable& input, std::optional<double> min, std::optional<double> max);

// input ^ exponent; NaN for a negative input and an exponent that is no whole number. The
// numbers 0.5 and -0.5 are roots: NaN at -infinity, where a tensor's power is infinity or 0, and
// odd at -0. At 0 the gradients are PyTorch's: none of the exponent, and none of the input where
// the exponent is 0.
Variable Pow(const Variable& input, const Variable& exponent);
Variable Pow(const Variable& input, double exponent);
Variable Pow(double input, const Variable& exponent);

}  // namespace torus::ops
