// Shape rules of 2-D pooling: pure functions.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/shape.h"

namespace torus::ops {

// One axis of a sliding window, in pixels.
struct PoolAxis {
  int64_t kernel, stride, padding, dilation = 1;
};

// Sizes of images (N, H, W, C).
struct PoolImage {
  int64_t n, h, w, c;
};

// The windows of a max pooling and their number.
struct MaxPoolWindow {
  PoolAxis rows, columns;
  int64_t out_h, out_w;
};

// Throws BadInput tagged `op` unless `input` is images (N, H, W, C) of at least one pixel and
// channel. An empty batch is fine.
void CheckImages(std::string_view op, const Shape& input);

// Output size over `in` pixels. With ceil_mode a last window may extend past the end if it starts
// inside of the input or its left padding. Throws BadInput tagged `op` for a kernel, stride or
// dilation below 1, a padding above half the kernel, or no output at all.
int64_t PooledSize(std::string_view op, int64_t in, const PoolAxis& axis, bool ceil_mode);

// The window of one output along one axis: input pixels [begin, end), and this axis' factor of the
// divisor.
struct AverageWindow {
  int64_t begin, end;
  double divisor;
};

// An average pooling: output (i, j) averages rows[i] and columns[j].
struct AverageWindows {
  PoolImage image;
  std::vector<AverageWindow> rows, columns;
};

// Windows of avg_pool2d along one axis. With count_include_pad, the divisor counts padding too, but
// not what extends past the padded input.
std::vector<AverageWindow> SlidingWindows(int64_t in, int64_t out, const PoolAxis& axis,
                                          bool count_include_pad);

// Windows of adaptive_avg_pool2d: output i takes [floor(i in / out), ceil((i + 1) in / out)).
std::vector<AverageWindow> AdaptiveWindows(int64_t in, int64_t out);

// A pair from one value for both axes, or two (height, width). Throws BadInput for another count.
Dims PoolPair(std::string_view op, std::string_view name, const Dims& values);

}  // namespace torus::ops
