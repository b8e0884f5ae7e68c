// The kernels of pooling, on the device of their tensors. Tensors are contiguous images (n, h, w,
// c), f32, f64 or, on a GPU, a 16-bit type, which is summed in f32 and rounded once.
#pragma once

#include "ops/pooling/cpu/pooling.h"
#include "ops/pooling/cuda/pooling.h"
#include "ops/pooling/pooling_shape.h"
#include "runtime/gpu_door.h"

namespace torus::kernels {

// y(n, i, j, c) = sum of x over rows[i] x columns[j], divided by both divisors; 0 for an empty
// window.
inline void AveragePool(std::string_view op, const ops::AverageWindows& windows, const Tensor& x,
                        Tensor& y) {
  AtDoor(
      op, y.device(), [&] { cpu::AveragePool(op, windows, x, y); },
      [&](StreamHandle stream) { cuda::AveragePool(op, windows, x, y, stream); });
}

// dx, overwritten. Contributions add in the order of the outputs.
inline void AveragePoolBackward(const ops::AverageWindows& windows, const Tensor& dy, Tensor& dx) {
  AtDoor(
      "average_pool", dx.device(), [&] { cpu::AveragePoolBackward(windows, dy, dx); },
      [&](StreamHandle stream) { cuda::AveragePoolBackward(windows, dy, dx, stream); });
}

// y = the largest value of each window. index (i32, shape of y) = its position y * w + x in the
// input image: the first of equal values, or the last NaN if there is one. A window without pixels
// gives -infinity and -1.
inline void MaxPool(const ops::PoolImage& image, const ops::MaxPoolWindow& window, const Tensor& x,
                    Tensor& y, Tensor& index) {
  AtDoor(
      "max_pool2d", y.device(), [&] { cpu::MaxPool(image, window, x, y, index); },
      [&](StreamHandle stream) { cuda::MaxPool(image, window, x, y, index, stream); });
}

// dx, overwritten; an index of -1 passes no gradient. Contributions add in the order of the
// outputs.
inline void MaxPoolBackward(const ops::PoolImage& image, const ops::MaxPoolWindow& window,
                            const Tensor& dy, const Tensor& index, Tensor& dx) {
  AtDoor(
      "max_pool2d", dx.device(), [&] { cpu::MaxPoolBackward(image, dy, index, dx); },
      [&](StreamHandle stream) { cuda::MaxPoolBackward(image, window, dy, index, dx, stream); });
}

}  // namespace torus::kernels
