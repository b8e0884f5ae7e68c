#include "models/nn/conv_bn_relu6.h"

namespace torus::nn {

ConvBnRelu6::ConvBnRelu6(const Conv2dOptions& convolution) {
  convolution_ = AddChild("0", std::make_shared<Conv2d>(convolution));
  norm_ = AddChild("1", std::make_shared<BatchNorm2d>(BatchNorm2dOptions{
                            .channels = convolution.out, .dtype = convolution.dtype}));
}

Variable ConvBnRelu6::Forward(const Variable& x, const StepContext& ctx) {
  return norm_->Forward(convolution_->Forward(x, ctx), ctx, Variable(), ops::Activation::kRelu6);
}

LayerCost ConvBnRelu6::Cost(const Shape& input) const {
  const LayerCost convolution = convolution_->Cost(input);
  return convolution.Then(norm_->Cost(convolution.output));
}

}  // namespace torus::nn
