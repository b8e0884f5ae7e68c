#include "models/mobilenet_v2/inverted_residual.h"

#include "runtime/error.h"

namespace torus {

InvertedResidual::InvertedResidual(const InvertedResidualOptions& o)
    : residual_(o.stride == 1 && o.in == o.out) {
  Require(o.stride == 1 || o.stride == 2, "inverted_residual", "stride must be 1 or 2, got {}",
          o.stride);
  const int64_t hidden = o.in * o.expansion;
  auto name = [this] { return fmt::format("conv.{}", children().size()); };
  auto add = [&](const nn::Conv2dOptions& convolution) {
    chain_.push_back(AddChild(name(), std::make_shared<nn::ConvBnRelu6>(convolution))->layer());
  };
  if (o.expansion != 1) add({.in = o.in, .out = hidden, .dtype = o.dtype});
  add({.in = hidden,
       .out = hidden,
       .kernel = 3,
       .stride = o.stride,
       .padding = 1,
       .groups = hidden,
       .dtype = o.dtype});
  nn::ConvNorm projection;
  projection.convolution = AddChild(
      name(),
      std::make_shared<nn::Conv2d>(nn::BeforeNorm({.in = hidden, .out = o.out, .dtype = o.dtype})));
  projection.norm = AddChild(name(), std::make_shared<nn::BatchNorm2d>(nn::BatchNorm2dOptions{
                                         .channels = o.out, .dtype = o.dtype}));
  chain_.push_back(projection);
}

Variable InvertedResidual::Forward(const Variable& x, const StepContext& ctx) {
  return nn::RunChain(x, ctx, chain_, residual_);
}

}  // namespace torus
