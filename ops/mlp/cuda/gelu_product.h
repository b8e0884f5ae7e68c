// Matrix products with tanh GELU on a GPU; ops/mlp/kernels.h has the contracts.
#pragma once

#include "runtime/tensor.h"

namespace torus::cuda {

void GeluProduct(const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& z, Tensor& h,
                 StreamHandle stream);
void GeluGradientProduct(const Tensor& a, const Tensor& b, const Tensor& z, Tensor& dz,
                         StreamHandle stream);

}  // namespace torus::cuda
