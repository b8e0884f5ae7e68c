// Pooling on a CPU; ops/pooling/kernels.h has the contracts.
#pragma once

#include "ops/pooling/pooling_shape.h"
#include "runtime/tensor.h"

namespace torus::cpu {

// `op` is the name in errors.
void AveragePool(std::string_view op, const ops::AverageWindows& windows, const Tensor& x,
                 Tensor& y);
void AveragePoolBackward(const ops::AverageWindows& windows, const Tensor& dy, Tensor& dx);
void MaxPool(const ops::PoolImage& image, const ops::MaxPoolWindow& window, const Tensor& x,
             Tensor& y, Tensor& index);
void MaxPoolBackward(const ops::PoolImage& image, const Tensor& dy, const Tensor& index,
                     Tensor& dx);

}  // namespace torus::cpu
