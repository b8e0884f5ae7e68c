// 3 x 3 convolutions of stride 1 by Winograd's F(4 x 4, 3 x 3): a quarter of the multiplications
// (winograd_vector.h). The 36 numbers of a spectrum lead to 36 independent matrix products, tiles
// by channels, so SGEMM does the sums over channels and tiles. Blocks of tiles stay in the
// last-level cache between transforms and products.
//
// The bits do not depend on the team size: each of the 36 products runs on one thread.
#pragma once

#include <limits>

#include "ops/convolution/conv_geometry.h"

namespace torus::cpu {

using ops::ConvGeometry;

// Whether to use it, by sizes alone: enough channels and tiles to pay for the transforms, and
// images that fill at least half of their tiles.
bool WinogradFits(const ConvGeometry& g);

// y = max(low, conv(x) + bias); `bias` may be null.
void WinogradForward(const ConvGeometry& g, const float* x, const float* weight, const float* bias,
                     float* y, float low = -std::numeric_limits<float>::infinity());
// The input's gradient is a convolution of dy with the filters rotated by 180 degrees.
void WinogradBackwardInput(const ConvGeometry& g, const float* dy, const float* weight, float* dx);
// The weight's gradient is the transposed algorithm: dW = G^T [sum over tiles of
// (A dY A^T) . (B^T X B)] G.
void WinogradBackwardWeight(const ConvGeometry& g, const float* x, const float* dy, float* dw);

}  // namespace torus::cpu
