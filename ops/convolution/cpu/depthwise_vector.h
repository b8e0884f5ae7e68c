// Depthwise convolution, one row at a time: every pass (forward, either gradient, any stride or
// dilation) is a sum over taps, and a tap is a pointer into a row that is padded already.
#pragma once

#include <cstdint>

namespace torus::cpu {

// For output column j and channel c the tap contributes in[j * in_step + c] times its weight[c].
struct DepthwiseTap {
  const float* in;
  const float* weight;
};

// Turns the gradient by a clamped activation into the one by what was clamped: kept where low <
// activation < high, else 0. `activation` is laid out as the output; what is kept is added to
// sum[c].
struct DepthwiseMask {
  const float* activation;
  float low, high;
  float* sum;
};

// out[j * out_step + c] = bias[c] + sum over taps. `bias` may be null, `taps` 0. Steps are in
// elements. Through `mask` unless null.
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
