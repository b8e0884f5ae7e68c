// Convolution with any groups over contiguous NHWC data; gradients overwrite.
//
// float: Winograd's algorithm (winograd.h), products by pixels (small_image.h) or oneDNN, chosen by
// the sizes alone. double: direct loops, against which every float path is tested.
#pragma once

#include "ops/convolution/conv_geometry.h"

namespace torus::cpu {

using ops::ConvGeometry;

// `bias` (o) may be null.
void ConvForward(const ConvGeometry& g, const float* x, const float* weight, const float* bias,
                 float* y);
void ConvForward(const ConvGeometry& g, const double* x, const double* weight, const double* bias,
                 double* y);

void ConvBackwardInput(const ConvGeometry& g, const float* dy, const float* weight, float* dx);
void ConvBackwardInput(const ConvGeometry& g, const double* dy, const double* weight, double* dx);

void ConvBackwardWeight(const ConvGeometry& g, const float* x, const float* dy, float* dw);
void ConvBackwardWeight(const ConvGeometry& g, const double* x, const double* dy, double* dw);

}  // namespace torus::cpu
