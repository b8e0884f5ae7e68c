// The largest element of each row on a CPU; ops/reduction/kernels.h has the contracts.
#pragma once

#include <string_view>

#include "runtime/tensor.h"

namespace torus::cpu {

void LargestOfRows(std::string_view op, const Tensor& x, Tensor& value, Tensor& where);

}  // namespace torus::cpu
