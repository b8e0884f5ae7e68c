// The float convolutions through oneDNN, activations in NHWC as they are; its primitives are cached
// by geometry and team size. Any geometry, any groups.
#pragma once

#include "ops/convolution/conv_geometry.h"

namespace torus::cpu {

using ops::ConvGeometry;

// `bias` (o) may be null.
void OnednnForward(const ConvGeometry& g, const float* x, const float* weight, const float* bias,
                   float* y);
void OnednnBackwardInput(const ConvGeometry& g, const float* dy, const float* weight, float* dx);
void OnednnBackwardWeight(const ConvGeometry& g, const float* x, const float* dy, float* dw);

}  // namespace torus::cpu
