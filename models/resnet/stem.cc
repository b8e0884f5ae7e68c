#include "models/resnet/stem.h"

namespace torus {

ResNetStem::ResNetStem(const nn::Conv2dOptions& o, bool pool) {
  layer_.convolution = AddChild("conv1", std::make_shared<nn::Conv2d>(nn::BeforeNorm(o)));
  layer_.norm = AddChild("bn1", std::make_shared<nn::BatchNorm2d>(
                                    nn::BatchNorm2dOptions{.channels = o.out, .dtype = o.dtype}));
  layer_.activation = ops::Activation::kRelu;
  if (pool)
    pool_ =
        std::make_shared<nn::MaxPool2d>(nn::PoolOptions{.kernel = 3, .stride = 2, .padding = 1});
}

Variable ResNetStem::Forward(const Variable& x, const StepContext& ctx) {
  const Variable y = nn::RunChain(x, ctx, {layer_}, /*residual=*/false);
  return pool_ == nullptr ? y : pool_->Forward(y, ctx);
}

}  // namespace torus
