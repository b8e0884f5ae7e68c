// Matrix products with tanh GELU on a CPU; ops/mlp/kernels.h has the contracts.
#pragma once

#include "runtime/tensor.h"

namespace torus::cpu {

void GeluProduct(const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& z, Tensor& h);
void GeluGradientProduct(const Tensor& a, const Tensor& b, const Tensor& z, Tensor& dz);

}  // namespace torus::cpu
