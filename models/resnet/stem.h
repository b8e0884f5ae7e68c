// The first layer of a ResNet: a convolution, batch norm, ReLU, and for large images max pooling.
#pragma once

#include <memory>

#include "models/nn/conv_norm.h"
#include "models/nn/pooling.h"

namespace torus {

// Children "conv1" and "bn1".
class ResNetStem : public nn::Module {
 public:
  ResNetStem(const nn::Conv2dOptions& convolution, bool pool);
  Variable Forward(const Variable& x, const StepContext& ctx) override;

 private:
  nn::ConvNorm layer_;
  std::shared_ptr<nn::MaxPool2d> pool_;  // 3 x 3, stride 2; null without
};

}  // namespace torus
