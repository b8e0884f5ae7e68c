// The largest element of each row, and running sums, on a GPU; ops/reduction/kernels.h has the
// contracts.
#pragma once

#include <string_view>

#include "runtime/tensor.h"

namespace torus::cuda {

void LargestOfRows(std::string_view op, const Tensor& x, Tensor& value, Tensor& where,
                   StreamHandle stream);
void Cumsum(const Tensor& x, bool reverse, Tensor& y, StreamHandle stream);

}  // namespace torus::cuda
