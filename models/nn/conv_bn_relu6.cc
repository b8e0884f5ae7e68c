#include "models/nn/conv_bn_relu6.h"

namespace torus::nn {

ConvBnRelu6::ConvBnRelu6(const Conv2dOptions& o) {
  layer_.convolution = AddChild("0", std::make_shared<Conv2d>(BeforeNorm(o)));
  layer_.norm = AddChild(
      "1", std::make_shared<BatchNorm2d>(BatchNorm2dOptions{.channels = o.out, .dtype = o.dtype}));
  layer_.activation = ops::Activation::kRelu6;
}

Variable ConvBnRelu6::Forward(const Variable& x, const StepContext& ctx) {
  return RunChain(x, ctx, {layer_}, /*residual=*/false);
}

}  // namespace torus::nn
