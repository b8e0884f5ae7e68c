// Average pooling over images (N, H, W, C), as torch.nn.functional.avg_pool2d and
// adaptive_avg_pool2d.
#pragma once

#include <optional>

#include "autograd/variable.h"

namespace torus::ops {

// PyTorch's arguments and defaults. Dims are {both axes} or {height, width}. Members without a
// comment are those.
struct AvgPool2dOptions {
  Dims kernel_size = {};
  Dims stride{};  // empty: the kernel size
  Dims padding{0};
  bool ceil_mode = false;
  bool count_include_pad = true;
  std::optional<int64_t> divisor_override = {};  // not 0; instead of the window's size
};

// f32 or f64. Throws BadInput tagged avg_pool2d for arguments that PyTorch refuses.
Variable AvgPool2d(const Variable& input, const AvgPool2dOptions& options);

// Pools any non-empty image to `output_size`, {both axes} or {height, width}, where -1 keeps the
// input's size (PyTorch's None). Output i averages pixels [floor(i in / out), ceil((i + 1) in /
// out)).
Variable AdaptiveAvgPool2d(const Variable& input, const Dims& output_size);

}  // namespace torus::ops
