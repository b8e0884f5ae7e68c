// 3 x 3 convolutions of stride 1 by Winograd's F(4 x 4, 3 x 3): a quarter of the multiplications
// (winograd_vector.h). A spectrum's 36 numbers are 36 independent products of matrices, tiles by
// channels, so the sums over channels and tiles are SGEMM's; blocks of tiles stay in the last-level
// cache between their transforms and products.
//
// The bits do not depend on the team size: each of the 36 products runs on one thread.
#pragma once

#include <limits>

#include "ops/convolution/conv_geometry.h"

namespace torus::cpu {

using ops::ConvGeometry;

// Whether to take this way, by sizes alone: enough channels and tiles to pay for the transforms,
// and images that fill their tiles at least by half.
bool WinogradFits(const ConvGeometry& g);

// y = max(low, conv(x) + bias); `bias` may be null.
void WinogradForward(const ConvGeometry& g, const float* x, const float* weight, const float* bias,
                     float* y, float low = -std::numeric_limits<float>::infinity());
// The input's gradient is a convolution of dy with the turned filters.
void WinogradBackwardInput(const ConvGeometry& g, const float* dy, const float* weight, float* dx);
// The weight's gradient is the transposed algorithm: dW = G^T [sum over tiles of
// (A dY A^T) . (B^T X B)] G.
void WinogradBackwardWeight(const ConvGeometry& g, const float* x, const float* dy, float* dw);

}  // namespace torus::cpu
