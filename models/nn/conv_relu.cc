#include "models/nn/conv_relu.h"

#include "ops/activation/activation.h"

namespace torus::nn {

ConvRelu::ConvRelu(const Conv2dOptions& o, bool batch_norm, int64_t first) {
  convolution_ = AddChild(std::to_string(first), std::make_shared<Conv2d>(o));
  if (batch_norm)
    norm_ = AddChild(std::to_string(first + 1), std::make_shared<BatchNorm2d>(BatchNorm2dOptions{
                                                    .channels = o.out, .dtype = o.dtype}));
}

Variable ConvRelu::Forward(const Variable& x, const StepContext& ctx) {
  const Variable y = convolution_->Forward(x, ctx);
  if (norm_ == nullptr) return ops::Relu(y);
  return norm_->Forward(y, ctx, Variable(), ops::Activation::kRelu);
}

}  // namespace torus::nn
