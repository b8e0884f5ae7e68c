// Transposed 2-D convolution over NHWC images: the gradient of a convolution with respect to its
// input, as an op of its own.
#pragma once

#include "autograd/variable.h"
#include "runtime/shape.h"

namespace torus::ops {

// PyTorch's arguments and defaults; pairs are (height, width). Members without a comment are those.
struct ConvTranspose2dOptions {
  Dims stride{1, 1};
  Dims padding{0, 0};         // taken away from the result on each side
  Dims output_padding{0, 0};  // of the result, after its last row and column; below the stride
  int64_t groups = 1;
  Dims dilation{1, 1};
};

// y[n, i s - p + a d, j s - p + b d, first(c) + o] sums weight[c, a, b, o] x[n, i, j, c], plus
// bias. x (N, H, W, C), weight (C, kH, kW, O / groups), which is that of the convolution from y to
// x, and bias (O) or undefined; f32 or f64. y is (N, (H - 1) s - 2 p + d (kH - 1) + output_padding
// + 1, ..., O), as torch.nn.functional.conv_transpose2d. Computed by the kernels of Conv2d's
// gradients. Throws BadInput with the shapes where they do not fit, and for an output_padding that
// reaches the stride.
Variable ConvTranspose2d(const Variable& x, const Variable& weight, const Variable& bias = {},
                         const ConvTranspose2dOptions& options = {});

}  // namespace torus::ops
