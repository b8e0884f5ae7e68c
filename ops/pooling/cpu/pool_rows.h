// Kernels of pooling over contiguous (n, h, w, c) images. They assume what the public calls have
// checked.
#pragma once

#include <cstdint>
#include <span>

#include "ops/pooling/pooling_shape.h"

namespace torus::cpu {

using ops::MaxPoolWindow;
using ops::PoolImage;

// out[n, i, j, c] = mean of in over rows[i] x columns[j]; the sum is divided by the product of the
// two divisors. An empty window gives 0. T is float or double.
template <class T>
void AveragePool(const PoolImage& image, std::span<const ops::AverageWindow> rows,
                 std::span<const ops::AverageWindow> columns, const T* in, T* out);

// din, overwritten, from dout. Contributions add in the order of the outputs.
template <class T>
void AveragePoolBackward(const PoolImage& image, std::span<const ops::AverageWindow> rows,
                         std::span<const ops::AverageWindow> columns, const T* dout, T* din);

// out = largest of each window, index = its pixel y * w + x in the input plane: the first of
// equals, the last NaN if there is one. Where a window has no pixel: -infinity and -1.
template <class T>
void MaxPool(const PoolImage& image, const MaxPoolWindow& window, const T* in, T* out,
             int32_t* index);

// din, overwritten, from dout (out_h * out_w pixels an image); an index of -1 passes nothing on.
template <class T>
void MaxPoolBackward(const PoolImage& image, int64_t out_pixels, const T* dout,
                     const int32_t* index, T* din);

}  // namespace torus::cpu
