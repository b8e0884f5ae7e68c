// ConvBnRelu6: convolution, batch norm and ReLU6, torchvision's Conv2dNormActivation.
#pragma once

#include "models/nn/conv_norm.h"

namespace torus::nn {

// Children "0" (the convolution, without bias) and "1" (the batch norm).
class ConvBnRelu6 : public Module {
 public:
  explicit ConvBnRelu6(const Conv2dOptions& convolution);
  Variable Forward(const Variable& x, const StepContext& ctx) override;

  // For RunChain over several of these.
  const ConvNorm& layer() const { return layer_; }

 private:
  ConvNorm layer_;
};

}  // namespace torus::nn
