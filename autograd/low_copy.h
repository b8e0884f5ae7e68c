// Copies of weights in 16 bits, made once a step instead of once a use.
#pragma once

#include "autograd/variable.h"

namespace torus {

// The leaf's values cast to `dtype`, bf16 or f16. The leaf keeps the copy until its values change;
// a leaf that is used by one thread at a time alone.
Tensor LowCopyOf(const Variable& leaf, DType dtype);

// The next use makes a copy anew.
void ForgetLowCopy(const Variable& leaf);

}  // namespace torus
