// Depthwise convolution on a GPU, one filter per channel; T is f32, f64, bf16 or f16; for 16-bit
// types sums are f32 and rounded once. Gradients overwrite. Internal to this op family.
#pragma once

#include "ops/convolution/conv_geometry.h"
#include "runtime/device.h"
#include "runtime/dtype.h"

namespace torus::cuda {

using ops::ConvGeometry;

// `bias` (c) may be null.
template <class T>
void DepthwiseForward(const ConvGeometry& g, const T* x, const T* weight, const SumOf<T>* bias,
                      T* y, StreamHandle stream);

template <class T>
void DepthwiseBackwardInput(const ConvGeometry& g, const T* dy, const T* weight, T* dx,
                            StreamHandle stream);

// Allocates workspace on GPU `device`.
template <class T>
void DepthwiseBackwardWeight(const ConvGeometry& g, const T* x, const T* dy, SumOf<T>* dw,
                             Device device, StreamHandle stream);

}  // namespace torus::cuda
