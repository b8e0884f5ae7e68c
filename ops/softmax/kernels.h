// The kernels of softmax, on the device of their tensors. Tensors are contiguous, f32 or f64, all
// of one shape (..., n); rows run along the last dimension.
#pragma once

#include "ops/softmax/cpu/softmax.h"
#include "ops/softmax/cuda/softmax.h"
#include "runtime/gpu_door.h"

namespace torus::kernels {

// y = exp(x) / sum(exp(x)) of each row.
inline void Softmax(const Tensor& x, Tensor& y) {
  AtDoor(
      "softmax", y.device(), [&] { cpu::Softmax(x, y); },
      [&](StreamHandle stream) { cuda::Softmax(x, y, stream); });
}

// dx = y (dy - sum(dy y)), where y is the result of Softmax.
inline void SoftmaxBackward(const Tensor& y, const Tensor& dy, Tensor& dx) {
  AtDoor(
      "softmax", dx.device(), [&] { cpu::SoftmaxBackward(y, dy, dx); },
      [&](StreamHandle stream) { cuda::SoftmaxBackward(y, dy, dx, stream); });
}

// y = x - log(sum(exp(x))) of each row.
inline void LogSoftmax(const Tensor& x, Tensor& y) {
  AtDoor(
      "log_softmax", y.device(), [&] { cpu::LogSoftmax(x, y); },
      [&](StreamHandle stream) { cuda::LogSoftmax(x, y, stream); });
}

// dx = dy - exp(y) sum(dy), where y is the result of LogSoftmax.
inline void LogSoftmaxBackward(const Tensor& y, const Tensor& dy, Tensor& dx) {
  AtDoor(
      "log_softmax", dx.device(), [&] { cpu::LogSoftmaxBackward(y, dy, dx); },
      [&](StreamHandle stream) { cuda::LogSoftmaxBackward(y, dy, dx, stream); });
}

}  // namespace torus::kernels
