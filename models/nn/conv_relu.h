// ConvRelu: a convolution, batch norm where asked for, and ReLU, as VGG strings them.
#pragma once

#include <optional>

#include "models/nn/conv_norm.h"

namespace torus::nn {

// Children are named by their place in torchvision's list of features: FIRST is the convolution,
// FIRST + 1 the batch norm. With batch norm the convolution should have no use for its bias, but
// torchvision's has one, so this has.
class ConvRelu : public Module {
 public:
  ConvRelu(const Conv2dOptions& convolution, bool batch_norm, int64_t first);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  LayerCost Cost(const Shape& input) const override;

 private:
  std::shared_ptr<Conv2d> convolution_;
  std::shared_ptr<BatchNorm2d> norm_;  // null without
};

}  // namespace torus::nn
