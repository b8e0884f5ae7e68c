// Selection whose size depends on values, as torch.nonzero and masked_select. The call waits for
// the values: on a GPU for its stream. On meta there are none, so these throw BadInput there.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// The indices of the elements that are not zero (NaN is not), in row-major order: (count, rank),
// i64. Any dtype.
Tensor Nonzero(const Tensor& input);

// The elements of the input where the mask (bool) holds, in row-major order, as a vector. Both
// broadcast. Any dtype.
Variable MaskedSelect(const Variable& input, const Variable& mask);

}  // namespace torus::ops
