// A widening 1 x 1 convolution and the depthwise one after it, fused so that neither the wide
// tensor between them nor its gradient is ever written to memory.
//
// With x (M, K) the narrow input, W (C, K) the weight, z = x W^T, xc = x - mean(x) and S = xc^T xc
// (K x K):
// - the statistics of z follow from those of x: mean(z) = W mean(x), M var(z)_c = W_c S W_c^T. So
//   the activation is computed directly from x, clamp(xc (a W)^T + bias) with the norm's scale a,
//   row by row as the depthwise convolution reads it;
// - the backward recomputes it, and needs no second pass over its gradient: with g the gradient
//   with respect to the norm's output and dz = a g + b (z - mean) + d for each channel
//   (BackwardAffine; b and d follow from sums over all of g),
//     dx = g (a W) + xc (W^T b W) + d W,    dW = a g^T xc + b W S,
//   where the first terms are summed row by row, before b and d are known, and the others are
//   small.
#pragma once

#include <vector>

#include "ops/conv_chain/cpu/chain_layer.h"

namespace torus::cpu {

// Whether the backward is fused so: for a 1 x 1 convolution from at most 32 channels to at least
// three times as many. With more channels, the products with K x K matrices cost as much as they
// save.
bool Widens(const ConvGeometry& wide, const ConvGeometry& depthwise);
// Whether the forward is too, and z is never stored: if the wide tensor has at least `least_bytes`
// bytes.
bool Expands(const ConvGeometry& wide, const ConvGeometry& depthwise, int64_t least_bytes);

// The mean and the centred Gram matrix of rows of `channels` floats; blocks are summed in float
// relative to a value near the mean, and merged in double.
InputMoments InputMomentsOf(const float* x, int64_t rows, int64_t channels);

// Sets the wide layer's input, mean and variance (z stays undefined).
void ExpandStatistics(ChainLayer& wide, const float* x, const float* weight);

// Fills z of the depthwise layer and sums its moments, one entry per part. The wide layer must be
// folded.
void ExpandForward(const ChainLayer& wide, ChainLayer& depthwise, const float* x,
                   const float* wide_weight, const float* depthwise_weight,
                   std::vector<ChannelMoments>& moments);

// The arguments of the two layers' backward; null outputs are not computed.
struct ExpandBackwardArgs {
  const ChainLayer &wide, &depthwise;
  const GradientSource& gradient;  // by the depthwise layer's z
  const float *x, *wide_weight, *depthwise_weight;
  const float* add;  // added to dx; may be null
  float *dx, *wide_dw, *depthwise_dw, *norm_dw, *norm_db;
};
void ExpandBackward(const ExpandBackwardArgs& args);

}  // namespace torus::cpu
