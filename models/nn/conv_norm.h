// A convolution and its batch norm, as one layer of a fused chain.
#pragma once

#include <memory>
#include <vector>

#include "models/nn/batch_norm2d.h"
#include "models/nn/conv2d.h"
#include "ops/conv_chain/conv_chain.h"

namespace torus::nn {

// A convolution without bias, its batch norm, and the activation that follows. Not a module itself:
// both are children of the module that holds it.
struct ConvNorm {
  std::shared_ptr<Conv2d> convolution;
  std::shared_ptr<BatchNorm2d> norm;
  ops::Activation activation = ops::Activation::kNone;
};

// The options of a convolution before a norm: without bias, and normal with the variance of
// KaimingNormalFanOut unless they say otherwise, as torchvision's models begin.
Conv2dOptions BeforeNorm(Conv2dOptions convolution);

// Runs the layers one after another; with `residual`, adds `x` before the last activation. Training
// calls ops::ConvChainTrain, which never stores the normalised activations in between, and each
// norm records its statistics. On the meta device, or if statistics are gathered from replicas, the
// layers run unfused.
Variable RunChain(const Variable& x, const StepContext& ctx, const std::vector<ConvNorm>& layers,
                  bool residual);

}  // namespace torus::nn
