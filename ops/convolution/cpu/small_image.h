// Convolutions whose kernels reach mostly beyond the edges, as over the last few pixels of a
// network for small images: a product of matrices, (batch, c) x (c, o), for each pair of an output
// pixel and an input pixel that it reads. Nothing is multiplied by padding: of a 3 x 3 kernel on
// images of 2 x 2 pixels four taps in nine are left, on single pixels one.
#pragma once

#include "ops/convolution/conv_geometry.h"
#include "runtime/dtype.h"

namespace torus::cpu {

using ops::ConvGeometry;

// Whether to take this way, by sizes alone: one group, a batch of at least 8, and at most half of
// all taps in the image.
bool SmallImageFits(const ConvGeometry& g);

// T is float, or BFloat16 where the processor has products of that; sums are f32. `bias` may be
// null.
template <class T>
void SmallImageForward(const ConvGeometry& g, const T* x, const T* weight, const float* bias,
                       float* y);
template <class T>
void SmallImageBackwardInput(const ConvGeometry& g, const T* dy, const T* weight, float* dx);
template <class T>
void SmallImageBackwardWeight(const ConvGeometry& g, const T* x, const T* dy, float* dw);

}  // namespace torus::cpu
