// The kernels of softmax, on the device of their tensors. Tensors are contiguous, f32 or f64, all
// of one shape (..., n); rows run along the last dimension.
#pragma once

#include "runtime/kernel_table.h"

namespace torus {

// y = exp(x) / sum(exp(x)) of each row.
TORUS_KERNEL(Softmax, "softmax", y.device(), (const Tensor& x, Tensor& y), (x, y));

// dx = y (dy - sum(dy y)), where y is the result of Softmax.
TORUS_KERNEL(SoftmaxBackward, "softmax", dx.device(),
             (const Tensor& y, const Tensor& dy, Tensor& dx), (y, dy, dx));

// y = x - log(sum(exp(x))) of each row.
TORUS_KERNEL(LogSoftmax, "log_softmax", y.device(), (const Tensor& x, Tensor& y), (x, y));

// dx = dy - exp(y) sum(dy), where y is the result of LogSoftmax.
TORUS_KERNEL(LogSoftmaxBackward, "log_softmax", dx.device(),
             (const Tensor& y, const Tensor& dy, Tensor& dx), (y, dy, dx));

}  // namespace torus
