// 2-D convolution (cross-correlation, as in all frameworks) over NHWC images.
#pragma once

#include "autograd/variable.h"
#include "ops/convolution/conv_geometry.h"

namespace torus::ops {

// y[n, i, j, o] = bias[o] + sum_{a, b, k} weight[o, a, b, k] x[n, i s - p + a d, j s - p + b d,
// first(o) + k], zero outside the image. x (N, H, W, C), weight (O, kH, kW, C / groups), bias (O)
// or undefined; f32 or f64. Semantics and defaults are PyTorch's torch.nn.functional.conv2d; throws
// BadInput with the shapes where PyTorch throws. f32 on a CPU: a 1 x 1 stride-1 convolution is a
// GEMM, a depthwise one (C groups of one filter) has its own kernel; for others see cpu/dense.h.
Variable Conv2d(const Variable& x, const Variable& weight, const Variable& bias = {},
                const Conv2dOptions& options = {});

}  // namespace torus::ops
