#include "models/mobilenet_v2/inverted_residual.h"

#include "runtime/error.h"

namespace torus {

InvertedResidual::InvertedResidual(const InvertedResidualOptions& o)
    : residual_(o.stride == 1 && o.in == o.out) {
  Require(o.stride == 1 || o.stride == 2, "inverted_residual", "stride must be 1 or 2, got {}",
          o.stride);
  const int64_t hidden = o.in * o.expansion;
  int child = 0;
  auto name = [&child] { return fmt::format("conv.{}", child++); };
  auto conv = [&](const nn::Conv2dOptions& options) {
    return AddChild(name(), std::make_shared<nn::ConvBnRelu6>(options));
  };
  if (o.expansion != 1) expansion_ = conv({.in = o.in, .out = hidden, .dtype = o.dtype});
  depthwise_ = conv({.in = hidden,
                     .out = hidden,
                     .kernel = 3,
                     .stride = o.stride,
                     .padding = 1,
                     .groups = hidden,
                     .dtype = o.dtype});
  projection_ = AddChild(name(), std::make_shared<nn::Conv2d>(nn::Conv2dOptions{
                                     .in = hidden, .out = o.out, .dtype = o.dtype}));
  norm_ = AddChild(name(), std::make_shared<nn::BatchNorm2d>(
                               nn::BatchNorm2dOptions{.channels = o.out, .dtype = o.dtype}));
}

Variable InvertedResidual::Forward(const Variable& x, const StepContext& ctx) {
  Variable y = expansion_ ? expansion_->Forward(x, ctx) : x;
  y = projection_->Forward(depthwise_->Forward(y, ctx), ctx);
  return norm_->Forward(y, ctx, residual_ ? x : Variable(), ops::Activation::kNone);
}

nn::LayerCost InvertedResidual::Cost(const Shape& input) const {
  nn::LayerCost cost{.output = input};
  for (const Child& child : children()) cost = cost.Then(child.module->Cost(cost.output));
  return cost;
}

}  // namespace torus
