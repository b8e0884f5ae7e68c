// ConvRelu: a convolution, optionally batch norm, and ReLU: one step of VGG's features.
#pragma once

#include <optional>

#include "models/nn/conv_norm.h"

namespace torus::nn {

// Children are named by their index in torchvision's list of features: `first` is the convolution,
// first + 1 the batch norm. A bias in front of batch norm has no effect, but torchvision's model
// has one, so this has it too.
class ConvRelu : public Module {
 public:
  ConvRelu(const Conv2dOptions& convolution, bool batch_norm, int64_t first);
  Variable Forward(const Variable& x, const StepContext& ctx) override;

 private:
  std::shared_ptr<Conv2d> convolution_;
  std::shared_ptr<BatchNorm2d> norm_;  // null without
};

}  // namespace torus::nn
