// Sums on a CPU; ops/sum/kernels.h has the contracts.
#pragma once

#include <string_view>

#include "runtime/tensor.h"

namespace torus::cpu {

void SumMiddle(std::string_view op, const Tensor& x, double divisor, Tensor& y);

}  // namespace torus::cpu
