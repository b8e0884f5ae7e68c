// The larger and the smaller of two tensors, element by element with broadcasting, as
// torch.maximum, minimum and clamp. Dtypes and errors as in elementwise.h; bool too.
#pragma once

#include <optional>

#include "autograd/variable.h"

namespace torus::ops {

// If either element is NaN, so is the result. Equal elements get half of the gradient each.
Variable Maximum(const Variable& input, const Variable& other);
Variable Minimum(const Variable& input, const Variable& other);

// min(max(input, min), max); either bound may be undefined, not both. The gradient goes to the
// input within the bounds, else to the bound that was taken. At a bound it is PyTorch's: a tensor
// bound and the input get half each (the bound gets none if both bounds are equal); at a bound that
// is a number the gradient is 0.
Variable Clamp(const Variable& input, const Variable& min, const Variable& max);
Variable Clamp(const Variable& input, std::optional<double> min, std::optional<double> max);

}  // namespace torus::ops
