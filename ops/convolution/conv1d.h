// Convolutions of sequences, as torch.nn.functional.conv1d and conv_transpose1d: those of images
// of height 1.
#pragma once

#include "autograd/variable.h"
#include "ops/convolution/conv_geometry.h"

namespace torus::ops {

// PyTorch's arguments and defaults. Members without a comment are those.
struct Conv1dOptions {
  int64_t stride = 1;
  int64_t padding = 0;  // used by kExplicit
  PaddingMode padding_mode = PaddingMode::kExplicit;
  int64_t dilation = 1;
  int64_t groups = 1;
};

// As Conv2d, of x (N, L, C), weight (O, k, C / groups) and bias (O) or undefined.
Variable Conv1d(const Variable& x, const Variable& weight, const Variable& bias = {},
                const Conv1dOptions& options = {});

// PyTorch's arguments and defaults. Members without a comment are those.
struct ConvTranspose1dOptions {
  int64_t stride = 1, padding = 0, output_padding = 0, groups = 1, dilation = 1;
};

// As ConvTranspose2d, of x (N, L, C), weight (C, k, O / groups) and bias (O) or undefined.
Variable ConvTranspose1d(const Variable& x, const Variable& weight, const Variable& bias = {},
                         const ConvTranspose1dOptions& options = {});

}  // namespace torus::ops
