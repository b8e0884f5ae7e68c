// The shape rule of 2-D convolution: the checked sizes, strides and paddings of one call.
#pragma once

#include <cstdint>

#include "runtime/shape.h"

namespace torus::ops {

// Zeros as given, as many as keep the size at stride 1, or none (PyTorch's "same" and "valid").
enum class PaddingMode { kExplicit, kSame, kValid };

// PyTorch's arguments and defaults; pairs are (height, width). Members without a comment are those.
struct Conv2dOptions {
  Dims stride{1, 1};
  Dims padding{0, 0};  // used by kExplicit
  PaddingMode padding_mode =
      PaddingMode::kExplicit;  // kSame needs stride 1; of an odd total, the extra pixel comes last
  Dims dilation{1, 1};
  int64_t groups = 1;
};

// Image (n, h, w, c), weight (o, kh, kw, c / groups), output (n, oh, ow, o). Members without a
// comment are sizes that their names say.
struct ConvGeometry {
  int64_t n, h, w, c, o, kh, kw, oh, ow;
  int64_t stride_h, stride_w, dilation_h, dilation_w;
  int64_t top, left, bottom, right;  // zero padding
  int64_t groups;

  // Whether it is a plain matrix product: (n h w, c) x (c, o).
  bool pointwise() const;
  // One filter per channel.
  bool depthwise() const { return groups == c && o == c; }
  // There is nothing to sum; libraries are not called.
  bool empty() const { return n == 0 || o == 0 || c == 0; }
  int64_t input_rows() const { return n * h * w; }
  int64_t output_rows() const { return n * oh * ow; }
  // FLOPs of the forward, and of either gradient; a multiply-add is two. Padding counts like
  // pixels.
  int64_t flops() const { return 2 * output_rows() * o * kh * kw * (c / groups); }
};

// Throws BadInput, tagged conv2d, with both shapes where they do not fit.
ConvGeometry ConvGeometryOf(const Shape& input, const Shape& weight, const Conv2dOptions& options);

}  // namespace torus::ops
