// Depthwise convolution with kernels of 3 x 3 and 5 x 5 at strides 1 and 2, as memory allows: a
// thread takes four neighbouring channels and a few rows of a column, keeps the weights in
// registers and reads each row of its tile once. Internal to this op family.
//
// Padding is read as zeros, so beside it a weight, and a gradient, that is not finite gives NaN, as
// in cuDNN's dense convolutions.
#pragma once

#include "ops/convolution/conv_geometry.h"
#include "runtime/device.h"
#include "runtime/dtype.h"

namespace torus::cuda {

using ops::ConvGeometry;

// Whether these kernels compute it: square kernels and strides of the sizes above, no dilation, a
// multiple of four channels, single images below 2^31 elements, and tensors that start at a
// multiple of four elements. T is f32, bf16 or f16.
template <class T>
bool DepthwiseHasTiles(const ConvGeometry& g, const T* x, const T* weight, const T* y);

// As in depthwise.h.
template <class T>
void TiledDepthwiseForward(const ConvGeometry& g, const T* x, const T* weight, const SumOf<T>* bias,
                           T* y, StreamHandle stream);
template <class T>
void TiledDepthwiseBackwardInput(const ConvGeometry& g, const T* dy, const T* weight, T* dx,
                                 StreamHandle stream);
template <class T>
void TiledDepthwiseBackwardWeight(const ConvGeometry& g, const T* x, const T* dy, SumOf<T>* dw,
                                  Device device, StreamHandle stream);

}  // namespace torus::cuda
