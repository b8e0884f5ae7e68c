// Layer norm on a CPU; ops/layer_norm/kernels.h has the contracts.
#pragma once

#include "runtime/tensor.h"

namespace torus::cpu {

void LayerNorm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps, Tensor& y,
               Tensor& mean, Tensor& rstd);
// The number of rows alone decides the parts of the sums over rows.
void LayerNormBackward(const Tensor& dy, const Tensor& x, const Tensor& mean, const Tensor& rstd,
                       const Tensor& weight, Tensor& dx, Tensor& dweight, Tensor& dbias);

}  // namespace torus::cpu
