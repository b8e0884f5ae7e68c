// Resizing of images, as torch.nn.functional.interpolate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "autograd/variable.h"

namespace torus::ops {

// PyTorch's arguments and defaults. Sizes and factors are one for all axes, or one for each.
struct InterpolateOptions {
  Dims size{};                         // of the result, or empty
  std::vector<double> scale_factor{};  // else these, by which sizes grow, rounded down
  // "nearest", "nearest-exact", "linear" (one axis), "bilinear" and "bicubic" (two), "trilinear"
  // (three), "area"
  std::string mode = "nearest";
  // Not of the nearest and area: whether the outer pixels' centers keep their places. None: false.
  std::optional<bool> align_corners{};
  // Whether the pixels' positions follow from the rounded size, and not from scale_factor.
  bool recompute_scale_factor = false;
  bool antialias = false;  // bilinear and bicubic
};

// Resizes the axes of (N, ..., C) between the first and the last dimension: one, two or three. f32
// or f64. Each axis is resized by itself, the last first. Throws BadInput for arguments that
// PyTorch refuses.
Variable Interpolate(const Variable& input, const InterpolateOptions& options);

}  // namespace torus::ops
