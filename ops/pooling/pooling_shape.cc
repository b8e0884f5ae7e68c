#include "ops/pooling/pooling_shape.h"

#include <algorithm>

#include "runtime/error.h"

namespace torus::ops {

void CheckImages(std::string_view op, const Shape& input) {
  Require(input.rank() == 4 && input[1] > 0 && input[2] > 0 && input[3] > 0, op,
          "needs images (N, H, W, C) of at least one pixel and channel, got {}", input);
}

int64_t PooledSize(std::string_view op, int64_t in, const PoolAxis& axis, bool ceil_mode) {
  Require(axis.kernel >= 1 && axis.stride >= 1 && axis.dilation >= 1, op,
          "kernel {}, stride {} and dilation {} must be at least 1", axis.kernel, axis.stride,
          axis.dilation);
  Require(axis.padding >= 0 && 2 * axis.padding <= axis.kernel, op,
          "padding {} is not within 0 and half the kernel {}", axis.padding, axis.kernel);
  const int64_t room = in + 2 * axis.padding - axis.dilation * (axis.kernel - 1) - 1;
  const int64_t steps = room + (ceil_mode ? axis.stride - 1 : 0);
  int64_t out = (steps < 0 ? -1 : steps / axis.stride) + 1;
  if (ceil_mode && (out - 1) * axis.stride >= in + axis.padding) --out;
  Require(out >= 1, op, "{} pixels with padding {} hold no window of {} with dilation {}", in,
          axis.padding, axis.kernel, axis.dilation);
  return out;
}

std::vector<AverageWindow> SlidingWindows(int64_t in, int64_t out, const PoolAxis& axis,
                                          bool count_include_pad) {
  std::vector<AverageWindow> windows;
  for (int64_t i = 0; i < out; ++i) {
    const int64_t start = i * axis.stride - axis.padding;
    const int64_t stop = std::min(start + axis.kernel, in + axis.padding);
    const int64_t begin = std::max<int64_t>(start, 0), end = std::max(begin, std::min(stop, in));
    windows.push_back(
        {begin, end, static_cast<double>(count_include_pad ? stop - start : end - begin)});
  }
  return windows;
}

std::vector<AverageWindow> AdaptiveWindows(int64_t in, int64_t out) {
  std::vector<AverageWindow> windows;
  for (int64_t i = 0; i < out; ++i) {
    const int64_t begin = i * in / out, end = ((i + 1) * in + out - 1) / out;
    windows.push_back({begin, end, static_cast<double>(end - begin)});
  }
  return windows;
}

Dims PoolPair(std::string_view op, std::string_view name, const Dims& values) {
  Require(values.rank() == 1 || values.rank() == 2, op, "{} needs one or two numbers, got {}", name,
          values);
  return values.rank() == 2 ? values : Dims{values[0], values[0]};
}

}  // namespace torus::ops
