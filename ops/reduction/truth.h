// Reductions of truth values over dimensions, as torch.any, all and count_nonzero. Inputs have any
// dtype: what is not 0 (NaN too) counts as true. No gradients. Dimensions as in reduction.h.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// bool, but u8 for u8, as in PyTorch. Over no elements Any is false and All true.
Variable Any(const Variable& input, const Dims& dims = {}, bool keepdim = false);
Variable All(const Variable& input, const Dims& dims = {}, bool keepdim = false);

// i64.
Variable CountNonzero(const Variable& input, const Dims& dims = {});

}  // namespace torus::ops
