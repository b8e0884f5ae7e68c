// Convolution of any geometry on a GPU, as tile products, in f32 and f64. Gradients overwrite.
// Internal to this op family.
#pragma once

#include "ops/convolution/conv_geometry.h"
#include "runtime/device.h"

namespace torus::cuda {

using ops::ConvGeometry;

// `bias` (o) may be null.
template <class T>
void DenseForward(const ConvGeometry& g, const T* x, const T* weight, const T* bias, T* y,
                  StreamHandle stream);

template <class T>
void DenseBackwardInput(const ConvGeometry& g, const T* dy, const T* weight, T* dx,
                        StreamHandle stream);

// Allocates workspace on GPU `device`.
template <class T>
void DenseBackwardWeight(const ConvGeometry& g, const T* x, const T* dy, T* dw, Device device,
                         StreamHandle stream);

}  // namespace torus::cuda
