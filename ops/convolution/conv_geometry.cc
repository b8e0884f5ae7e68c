#include "ops/convolution/conv_geometry.h"

#include "runtime/error.h"

namespace torus::ops {
namespace {

struct Side {
  int64_t before, after, out;
};

// One dimension: its padding and output size.
Side SideOf(const Conv2dOptions& options, int i, int64_t in, int64_t kernel) {
  const int64_t span = options.dilation[i] * (kernel - 1);
  int64_t before = 0, after = 0;
  if (options.padding_mode == PaddingMode::kExplicit) before = after = options.padding[i];
  if (options.padding_mode == PaddingMode::kSame) before = span / 2, after = span - before;
  const int64_t padded = in + before + after;
  Require(padded > span, "conv2d", "kernel spans {} but the padded input has {} (dimension {})",
          span + 1, padded, i == 0 ? "H" : "W");
  return {before, after, (padded - span - 1) / options.stride[i] + 1};
}

void CheckOptions(const Conv2dOptions& options) {
  for (const Dims* pair : {&options.stride, &options.padding, &options.dilation})
    Require(pair->rank() == 2, "conv2d", "stride, padding and dilation are pairs, got {}", *pair);
  for (int i = 0; i < 2; ++i)
    Require(options.stride[i] >= 1 && options.dilation[i] >= 1 && options.padding[i] >= 0, "conv2d",
            "needs stride and dilation of 1 or more and padding of 0 or more, got {}, {}, {}",
            options.stride, options.dilation, options.padding);
  Require(options.padding_mode != PaddingMode::kSame || options.stride == Dims{1, 1}, "conv2d",
          "padding 'same' needs stride 1, got {}", options.stride);
}

}  // namespace

bool ConvGeometry::pointwise() const {
  return kh == 1 && kw == 1 && groups == 1 && stride_h == 1 && stride_w == 1 && oh == h && ow == w;
}

ConvGeometry ConvGeometryOf(const Shape& input, const Shape& weight, const Conv2dOptions& options) {
  CheckOptions(options);
  Require(input.rank() == 4 && weight.rank() == 4, "conv2d",
          "needs an image (N, H, W, C) and a weight (O, kH, kW, C / groups), got {} and {}", input,
          weight);
  const int64_t groups = options.groups;
  Require(groups >= 1 && input[3] == weight[3] * groups && weight[0] % groups == 0, "conv2d",
          "{} channels of images (N, H, W, C) {} do not fit weight {} in {} groups", input[3],
          input, weight, groups);
  Require(weight[0] >= 1 && weight[1] >= 1 && weight[2] >= 1, "conv2d",
          "weight has no filter or no tap: {}", weight);
  Require(input[0] == 0 || input[3] == 0 || (input[1] > 0 && input[2] > 0), "conv2d",
          "needs at least one pixel, got {}", input);
  const Side rows = SideOf(options, 0, input[1], weight[1]),
             cols = SideOf(options, 1, input[2], weight[2]);
  return {.n = input[0],
          .h = input[1],
          .w = input[2],
          .c = input[3],
          .o = weight[0],
          .kh = weight[1],
          .kw = weight[2],
          .oh = rows.out,
          .ow = cols.out,
          .stride_h = options.stride[0],
          .stride_w = options.stride[1],
          .dilation_h = options.dilation[0],
          .dilation_w = options.dilation[1],
          .top = rows.before,
          .left = cols.before,
          .bottom = rows.after,
          .right = cols.after,
          .groups = groups};
}

}  // namespace torus::ops
