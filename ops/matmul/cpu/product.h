// Matrix products on a CPU; ops/matmul/kernels.h has the contracts.
#pragma once

#include "runtime/tensor.h"

namespace torus::cpu {

void Product(const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& out);
void ProductByTransposed(const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& out);
void ProductPlus(const Tensor& a, const Tensor& b, bool by_transposed, const Tensor& bias,
                 const Tensor& added, Tensor& out);
void ProductOfTransposed(const Tensor& a, const Tensor& b, Tensor& out);
void SumOfLowRows(const Tensor& x, Tensor& sum);
void ProductOfTransposedAndSum(const Tensor& a, const Tensor& b, bool of_a, Tensor& out,
                               Tensor& sum);
void BatchedProduct(const Tensor& a, const Tensor& b, Tensor& out);

}  // namespace torus::cpu
