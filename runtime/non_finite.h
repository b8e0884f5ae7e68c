// How many values of a tensor are infinite or NaN.
#pragma once

#include <cstdint>

#include "runtime/tensor.h"

namespace torus {

// 0 for integers. BadInput for a tensor that is not on the CPU.
int64_t CountNonFinite(const Tensor& tensor);

}  // namespace torus
