// Kernels of pooling over contiguous (n, h, w, c) images. The public functions have checked the
// arguments.
#pragma once

#include <cstdint>
#include <span>

#include "ops/pooling/pooling_shape.h"

namespace torus::cpu {

using ops::MaxPoolWindow;
using ops::PoolImage;

// out[n, i, j, c] = mean of in over rows[i] x columns[j]; the divisor is the product of the two
// windows' divisors. An empty window gives 0. T is float or double.
template <class T>
void AveragePool(const PoolImage& image, std::span<const ops::AverageWindow> rows,
                 std::span<const ops::AverageWindow> columns, const T* in, T* out);

// Overwrites din, from dout. Contributions add in the order of the outputs.
template <class T>
void AveragePoolBackward(const PoolImage& image, std::span<const ops::AverageWindow> rows,
                         std::span<const ops::AverageWindow> columns, const T* dout, T* din);

// out = largest value of each window, index = its position y * w + x in the input image: the first
// of equal values, or the last NaN if there is one. A window without pixels gives -infinity and -1.
template <class T>
void MaxPool(const PoolImage& image, const MaxPoolWindow& window, const T* in, T* out,
             int32_t* index);

// Overwrites din, from dout (out_h * out_w pixels per image); an index of -1 passes no gradient.
template <class T>
void MaxPoolBackward(const PoolImage& image, int64_t out_pixels, const T* dout,
                     const int32_t* index, T* din);

}  // namespace torus::cpu
