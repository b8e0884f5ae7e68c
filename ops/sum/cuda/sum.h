// Sums on a GPU; ops/sum/kernels.h has the contracts.
#pragma once

#include <string_view>

#include "runtime/tensor.h"

namespace torus::cuda {

void SumMiddle(std::string_view op, const Tensor& x, double divisor, Tensor& y,
               StreamHandle stream);

}  // namespace torus::cuda
