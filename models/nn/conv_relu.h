// ConvRelu: a convolution, optionally batch norm, and ReLU: one step of VGG's features.
#pragma once

#include <optional>

#include "models/nn/conv_norm.h"

namespace torus::nn {

// Children are named by their index in torchvision's list of features: `first` is the convolution,
// first + 1 the batch norm. The convolution has a bias, as in torchvision's model, although it has
// no effect before a batch norm.
class ConvRelu : public Module {
 public:
  ConvRelu(const Conv2dOptions& convolution, bool batch_norm, int64_t first);
  Variable Forward(const Variable& x, const StepContext& ctx) override;

 private:
  std::shared_ptr<Conv2d> convolution_;
  std::shared_ptr<BatchNorm2d> norm_;  // null without
};

}  // namespace torus::nn
