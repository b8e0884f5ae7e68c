#include "models/resnet/residual_block.h"

#include "ops/pooling/average_pool.h"
#include "ops/view/join.h"
#include "runtime/error.h"

namespace torus {
namespace {

// A window of 1 pixel every `stride` pixels selects the pixel itself.
Variable EveryPixel(const Variable& x, int64_t stride) {
  return ops::AvgPool2d(x, {.kernel_size = {1}, .stride = {stride}});
}

Variable PadChannels(const Variable& x, int64_t before, int64_t after) {
  auto zeros = [&x](int64_t channels) {
    Shape shape = x.shape();
    shape[3] = channels;
    return Variable(Zeros(shape, x.dtype(), x.data().device()));
  };
  return ops::Cat({zeros(before), x, zeros(after)}, 3);
}

}  // namespace

ResidualBlock::ResidualBlock(const ResidualBlockOptions& o)
    : options_(o), out_(o.bottleneck ? 4 * o.width : o.width) {
  if (o.bottleneck) AddLayer({.in = o.in, .out = o.width});
  AddLayer({.in = o.bottleneck ? o.width : o.in,
            .out = o.width,
            .kernel = 3,
            .stride = o.stride,
            .padding = 1});
  AddLayer(o.bottleneck ? nn::Conv2dOptions{.in = o.width, .out = out_}
                        : nn::Conv2dOptions{.in = o.width, .out = out_, .kernel = 3, .padding = 1});
  if (o.shortcut == Shortcut::kPadding || (o.stride == 1 && o.in == out_)) return;
  nn::ConvNorm projection;
  projection.convolution = AddChild(
      "downsample.0", std::make_shared<nn::Conv2d>(nn::BeforeNorm({.in = o.in,
                                                                   .out = out_,
                                                                   .stride = o.stride,
                                                                   .weight_init = o.weight_init,
                                                                   .dtype = o.dtype})));
  projection.norm =
      AddChild("downsample.1", std::make_shared<nn::BatchNorm2d>(
                                   nn::BatchNorm2dOptions{.channels = out_, .dtype = o.dtype}));
  downsample_.push_back(projection);
}

void ResidualBlock::AddLayer(const nn::Conv2dOptions& convolution) {
  const size_t number = layers_.size() + 1;
  nn::Conv2dOptions o = convolution;
  o.weight_init = options_.weight_init;
  o.dtype = options_.dtype;
  nn::ConvNorm layer;
  layer.convolution =
      AddChild(fmt::format("conv{}", number), std::make_shared<nn::Conv2d>(nn::BeforeNorm(o)));
  layer.norm = AddChild(fmt::format("bn{}", number),
                        std::make_shared<nn::BatchNorm2d>(
                            nn::BatchNorm2dOptions{.channels = o.out, .dtype = o.dtype}));
  layer.activation = ops::Activation::kRelu;
  layers_.push_back(layer);
}

Variable ResidualBlock::Identity(const Variable& x, const StepContext& ctx) const {
  if (!downsample_.empty()) return nn::RunChain(x, ctx, downsample_, /*residual=*/false);
  if (options_.stride == 1 && options_.in == out_) return x;
  const int64_t grown = out_ - options_.in;
  return PadChannels(options_.stride == 1 ? x : EveryPixel(x, options_.stride), grown / 2,
                     grown - grown / 2);
}

Variable ResidualBlock::Forward(const Variable& x, const StepContext& ctx) {
  Variable y = x;
  for (size_t i = 0; i + 1 < layers_.size(); ++i)
    y = nn::RunChain(y, ctx, {layers_[i]}, /*residual=*/false);
  const nn::ConvNorm& last = layers_.back();
  return last.norm->Forward(last.convolution->Forward(y, ctx), ctx, Identity(x, ctx),
                            last.activation);
}

}  // namespace torus
