// Conversion to another dtype, as torch.Tensor.to.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// Returns the input itself if it already has the dtype, else a copy, cast as in C++. Between
// floating types the gradient is cast back; to and from integer types none flows.
Variable Cast(const Variable& input, DType dtype);

}  // namespace torus::ops
