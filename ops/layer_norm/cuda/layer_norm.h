// Layer norm on a GPU; ops/layer_norm/kernels.h has the contracts.
#pragma once

#include "runtime/tensor.h"

namespace torus::cuda {

void LayerNorm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps, Tensor& y,
               Tensor& mean, Tensor& rstd, StreamHandle stream);
void LayerNormBackward(const Tensor& dy, const Tensor& x, const Tensor& mean, const Tensor& rstd,
                       const Tensor& weight, const Tensor& added, Tensor& dx, Tensor& dweight,
                       Tensor& dbias, StreamHandle stream);

}  // namespace torus::cuda
