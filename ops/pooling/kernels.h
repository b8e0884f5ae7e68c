// The kernels of pooling, on the device of their tensors. Tensors are contiguous images (n, h, w,
// c), f32, f64 or, on a GPU, a 16-bit type, which is summed in f32 and rounded once.
#pragma once

#include <string_view>

#include "ops/pooling/pooling_shape.h"
#include "runtime/kernel_table.h"

namespace torus {

// y(n, i, j, c) = sum of x over rows[i] x columns[j], divided by both divisors; 0 for an empty
// window.
TORUS_KERNEL(AveragePool, op, y.device(),
             (std::string_view op, const ops::AverageWindows& windows, const Tensor& x, Tensor& y),
             (op, windows, x, y));

// dx, overwritten. Contributions add in the order of the outputs.
TORUS_KERNEL(AveragePoolBackward, "average_pool", dx.device(),
             (const ops::AverageWindows& windows, const Tensor& dy, Tensor& dx), (windows, dy, dx));

// y = the largest value of each window. index (i32, shape of y) = its position y * w + x in the
// input image: the first of equal values, or the last NaN if there is one. A window without pixels
// gives -infinity and -1.
TORUS_KERNEL(MaxPool, "max_pool2d", y.device(),
             (const ops::PoolImage& image, const ops::MaxPoolWindow& window, const Tensor& x,
              Tensor& y, Tensor& index),
             (image, window, x, y, index));

// dx, overwritten; an index of -1 passes no gradient. Contributions add in the order of the
// outputs.
TORUS_KERNEL(MaxPoolBackward, "max_pool2d", dx.device(),
             (const ops::PoolImage& image, const ops::MaxPoolWindow& window, const Tensor& dy,
              const Tensor& index, Tensor& dx),
             (image, window, dy, index, dx));

}  // namespace torus
