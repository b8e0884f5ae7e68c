// Pooling on a GPU; ops/pooling/kernels.h has the contracts.
#pragma once

#include <string_view>

#include "ops/pooling/pooling_shape.h"
#include "runtime/tensor.h"

namespace torus::cuda {

void AveragePool(std::string_view op, const ops::AverageWindows& windows, const Tensor& x,
                 Tensor& y, StreamHandle stream);
void AveragePoolBackward(const ops::AverageWindows& windows, const Tensor& dy, Tensor& dx,
                         StreamHandle stream);
void MaxPool(const ops::PoolImage& image, const ops::MaxPoolWindow& window, const Tensor& x,
             Tensor& y, Tensor& index, StreamHandle stream);
void MaxPoolBackward(const ops::PoolImage& image, const ops::MaxPoolWindow& window,
                     const Tensor& dy, const Tensor& index, Tensor& dx, StreamHandle stream);

}  // namespace torus::cuda
