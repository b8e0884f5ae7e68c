// Elements of one tensor in another order, as torch.flip and roll. The results are copies, of any
// dtype.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// A view of `tensor` that runs backwards along `dims`, which are distinct and not negative.
Tensor ReversedView(const Tensor& tensor, const Dims& dims);

// Reverses the order along `dims`; with no dimension named, a copy. Throws BadInput for a dimension
// named twice.
Variable Flip(const Variable& input, const Dims& dims);

// Moves the elements by shifts[i] places along dims[i]; those that pass the end come in again at
// the beginning. Without dims, along the flattened tensor by the only shift. A dimension named
// twice moves by both. Throws BadInput for lists of different lengths.
Variable Roll(const Variable& input, const Dims& shifts, const Dims& dims = {});

}  // namespace torus::ops
