// Running sums on a CPU; ops/reduction/kernels.h has the contracts.
#pragma once

#include "runtime/tensor.h"

namespace torus::cpu {

void Cumsum(const Tensor& x, bool reverse, Tensor& y);

}  // namespace torus::cpu
