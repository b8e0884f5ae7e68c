// Matrix products on a GPU; ops/matmul/kernels.h has the contracts.
#pragma once

#include "runtime/tensor.h"

namespace torus::cuda {

void Product(const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& out,
             StreamHandle stream);
void ProductByTransposed(const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& out,
                         StreamHandle stream);
void ProductPlus(const Tensor& a, const Tensor& b, bool by_transposed, const Tensor& bias,
                 const Tensor& added, Tensor& out, StreamHandle stream);
void ProductOfTransposed(const Tensor& a, const Tensor& b, Tensor& out, StreamHandle stream);
void SumOfLowRows(const Tensor& x, Tensor& sum, StreamHandle stream);
void ProductOfTransposedAndSum(const Tensor& a, const Tensor& b, bool of_a, Tensor& out,
                               Tensor& sum, StreamHandle stream);
void BatchedProduct(const Tensor& a, const Tensor& b, Tensor& out, StreamHandle stream);

}  // namespace torus::cuda
