// MobileNetV2 (Sandler et al. 2018, "MobileNetV2: Inverted residuals and linear bottlenecks", table
// 2), with torchvision's names, options and initialization.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/nn/sequential.h"

namespace torus {

// A row of table 2: `repeats` blocks, the first with `stride`.
struct InvertedResidualSetting {
  int64_t expansion = 1, channels = 16, repeats = 1, stride = 1;  // the columns t, c, n and s
};

// The seven rows of the paper.
std::vector<InvertedResidualSetting> MobileNetV2Settings();

// The arguments of torchvision's constructor, with its defaults. Members without a comment are as
// their names say; dtype is that of the parameters.
struct MobileNetV2Options {
  int64_t num_classes = 1000;
  double width_mult = 1.0;    // scales the channels of every layer
  double dropout = 0.2;       // probability, before the classifier
  int64_t round_nearest = 8;  // channels are rounded to a multiple of it; 1 turns rounding off
  std::vector<InvertedResidualSetting> settings = MobileNetV2Settings();
  DType dtype = DType::kF32;
};

// `value` rounded to a multiple of `divisor`, never below 90 % of it: torchvision's
// _make_divisible.
int64_t MakeDivisible(double value, int64_t divisor);

// Maps images (N, H, W, 3) to logits (N, num_classes). Its layers are "features.0" ...
// "features.18" (with the paper's settings), "avgpool" and "classifier". Throws BadInput for
// options out of range.
std::shared_ptr<nn::Sequential> MobileNetV2(const MobileNetV2Options& options = {});

}  // namespace torus
