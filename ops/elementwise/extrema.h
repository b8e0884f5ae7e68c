// The larger and the smaller of two tensors, element by element with broadcasting, as
// torch.maximum, minimum and clamp. Dtypes and errors as in elementwise.h.
#pragma once

#include <optional>

#include "autograd/variable.h"

namespace torus::ops {

// NaN wins over every number. Equal elements share the gradient in halves.
Variable Maximum(const Variable& input, const Variable& other);
Variable Minimum(const Variable& input, const Variable& other);

// min(max(input, min), max); either bound may be undefined, not both. The input has the gradient
// within the bounds, else the bound that was taken. At a bound PyTorch chooses: a tensor shares in
// halves with the input (but has nothing where both bounds are equal), and at a number the
// gradient is 0.
Variable Clamp(const Variable& input, const Variable& min, const Variable& max);
Variable Clamp(const Variable& input, std::optional<double> min, std::optional<double> max);

}  // namespace torus::ops
