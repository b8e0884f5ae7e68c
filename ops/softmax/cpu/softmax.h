// Softmax on a CPU; ops/softmax/kernels.h has the contracts.
#pragma once

#include "runtime/tensor.h"

namespace torus::cpu {

void Softmax(const Tensor& x, Tensor& y);
void SoftmaxBackward(const Tensor& y, const Tensor& dy, Tensor& dx);
void LogSoftmax(const Tensor& x, Tensor& y);
void LogSoftmaxBackward(const Tensor& y, const Tensor& dy, Tensor& dx);

}  // namespace torus::cpu
