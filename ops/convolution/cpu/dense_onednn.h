// Convolution by oneDNN on NHWC activations, for any geometry and groups. Primitives are made for
// each call; oneDNN itself keeps what it has compiled. T is float, or BFloat16 if the processor
// multiplies it natively (runtime/vector_unit.h): sums, bias and the gradient of the weights are
// then f32, and BFloat16 results are rounded once.
#pragma once

#include "ops/convolution/conv_geometry.h"
#include "runtime/dtype.h"

namespace torus::cpu {

using ops::ConvGeometry;

// `bias` (o) may be null.
template <class T>
void OnednnForward(const ConvGeometry& g, const T* x, const T* weight, const float* bias, T* y);
template <class T>
void OnednnBackwardInput(const ConvGeometry& g, const T* dy, const T* weight, T* dx);
template <class T>
void OnednnBackwardWeight(const ConvGeometry& g, const T* x, const T* dy, float* dw);

}  // namespace torus::cpu
