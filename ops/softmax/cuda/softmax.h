// Softmax on a GPU; ops/softmax/kernels.h has the contracts.
#pragma once

#include "runtime/tensor.h"

namespace torus::cuda {

void Softmax(const Tensor& x, Tensor& y, StreamHandle stream);
void SoftmaxBackward(const Tensor& y, const Tensor& dy, Tensor& dx, StreamHandle stream);
void LogSoftmax(const Tensor& x, Tensor& y, StreamHandle stream);
void LogSoftmaxBackward(const Tensor& y, const Tensor& dy, Tensor& dx, StreamHandle stream);

}  // namespace torus::cuda
