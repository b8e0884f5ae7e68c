// Convolutions whose kernels mostly cover padding, as in the last layers of a network for small
// images. Computes a matrix product, (batch, c) x (c, o), for each pair of an output pixel and an
// input pixel that it reads. Nothing is multiplied by padding: a 3 x 3 kernel uses four taps in
// nine on images of 2 x 2 pixels, and one on single pixels.
#pragma once

#include "ops/convolution/conv_geometry.h"
#include "runtime/dtype.h"

namespace torus::cpu {

using ops::ConvGeometry;

// Whether to use it, by sizes alone: one group, a batch of at least 8, and at most half of all taps
// inside the image.
bool SmallImageFits(const ConvGeometry& g);

// T is float, or BFloat16 if the processor multiplies it natively; sums are f32. `bias` may be
// null.
template <class T>
void SmallImageForward(const ConvGeometry& g, const T* x, const T* weight, const float* bias,
                       float* y);
template <class T>
void SmallImageBackwardInput(const ConvGeometry& g, const T* dy, const T* weight, float* dx);
template <class T>
void SmallImageBackwardWeight(const ConvGeometry& g, const T* x, const T* dy, float* dw);

}  // namespace torus::cpu
