// Depthwise convolution, one row at a time. Every pass (forward, either gradient, any stride or
// dilation) is a sum over taps; a tap points into an already padded row.
#pragma once

#include <cstdint>

namespace torus::cpu {

// For output column j and channel c the tap contributes in[j * in_step + c] times its weight[c].
struct DepthwiseTap {
  const float* in;
  const float* weight;
};

// Masks the gradient of a clamped activation: keeps it where low < activation < high, else 0.
// `activation` has the layout of the output; kept gradients are also added to sum[c].
struct DepthwiseMask {
  const float* activation;
  float low, high;
  float* sum;
};

// out[j * out_step + c] = bias[c] + sum over taps. `bias` may be null and `count` 0. Steps are in
// elements. Applies `mask` unless null.
void DepthwiseRow(const DepthwiseTap* taps, int count, const float* bias, int64_t columns,
                  int64_t channels, int64_t in_step, int64_t out_step, float* out,
                  const DepthwiseMask* mask = nullptr);

// For output column j and channel c the tap's sum[c] += in[j * in_step + c] * dy[j][c].
struct DepthwiseWeightTap {
  const float* in;
  float* sum;
};

void DepthwiseWeightRow(const DepthwiseWeightTap* taps, int count, const float* dy, int64_t columns,
                        int64_t channels, int64_t in_step);

}  // namespace torus::cpu
