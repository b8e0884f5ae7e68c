// Convolution and its batch norm as one layer of a fused chain.
#pragma once

#include <memory>
#include <vector>

#include "models/nn/batch_norm2d.h"
#include "models/nn/conv2d.h"
#include "ops/conv_chain/conv_chain.h"

namespace torus::nn {

// A convolution without bias, the batch norm behind it, and what follows; no module itself, the two
// are children of whoever holds it.
struct ConvNorm {
  std::shared_ptr<Conv2d> convolution;
  std::shared_ptr<BatchNorm2d> norm;
  ops::Activation activation = ops::Activation::kNone;
};

// The layers one after another, `x` added before the last activation where `residual`. In training
// this is ops::ConvChainTrain, whose inner activations never exist in memory; each norm keeps its
// statistics.
Variable RunChain(const Variable& x, const StepContext& ctx, const std::vector<ConvNorm>& layers,
                  bool residual);

}  // namespace torus::nn
