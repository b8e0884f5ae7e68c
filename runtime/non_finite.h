// Counting infinite and NaN values.
#pragma once

#include <cstdint>

#include "runtime/tensor.h"

namespace torus {

// The number of values that are infinite or NaN; 0 for integer dtypes. Throws BadInput unless the
// tensor is on the CPU.
int64_t CountNonFinite(const Tensor& tensor);

}  // namespace torus
