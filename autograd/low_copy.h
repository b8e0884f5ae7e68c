// 16-bit copies of weights, made once per step instead of at each use.
#pragma once

#include "autograd/variable.h"

namespace torus {

// Returns the leaf's values cast to `dtype`, bf16 or f16. The leaf caches the copy until its values
// change. Not thread-safe: one thread at a time may use a leaf.
Tensor LowCopyOf(const Variable& leaf, DType dtype);

// Drops the cached copy; the next use makes a new one.
void ForgetLowCopy(const Variable& leaf);

}  // namespace torus
