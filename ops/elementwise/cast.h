// Another dtype of the same values, as torch.Tensor.to.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// The input itself where it has the dtype already, else a copy, cast as C++ does. Between floating
// types the gradient is cast back; to and from whole numbers none flows.
Variable Cast(const Variable& input, DType dtype);

}  // namespace torus::ops
