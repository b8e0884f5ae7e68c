// ConvBnRelu6: convolution, batch norm and ReLU6, torchvision's Conv2dNormActivation.
#pragma once

#include <memory>

#include "models/nn/batch_norm2d.h"
#include "models/nn/conv2d.h"

namespace torus::nn {

// Children "0" (the convolution, without bias) and "1" (the batch norm).
class ConvBnRelu6 : public Module {
 public:
  explicit ConvBnRelu6(const Conv2dOptions& convolution);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  LayerCost Cost(const Shape& input) const override;

 private:
  std::shared_ptr<Conv2d> convolution_;
  std::shared_ptr<BatchNorm2d> norm_;
};

}  // namespace torus::nn
