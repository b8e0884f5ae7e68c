#include "models/amoebanet/stem.h"

#include "models/amoebanet/operation.h"
#include "ops/activation/activation.h"

namespace torus::amoebanet {

Stem::Stem(int64_t channels, DType dtype) {
  layer_.convolution = AddChild(
      "conv",
      std::make_shared<nn::Conv2d>(WithoutBias(
          {.in = 3, .out = channels, .kernel = 3, .stride = 2, .padding = 1, .dtype = dtype})));
  layer_.norm = AddChild("bn", std::make_shared<nn::BatchNorm2d>(
                                   nn::BatchNorm2dOptions{.channels = channels, .dtype = dtype}));
}

Variable Stem::Forward(const Variable& x, const StepContext& ctx) {
  return nn::RunChain(ops::Relu(x), ctx, {layer_}, /*residual=*/false);
}

}  // namespace torus::amoebanet
