// A chain of convolutions, each followed by batch norm and activation, whose inner activations
// never exist in memory.
//
//   x -> conv -> norm -> act -> conv -> norm -> act -> ... -> conv -> norm -> (+ x) -> act -> y
//
// Training such a chain layer by layer is bound by memory: around 14 passes over every activation.
// Here a convolution writes its raw output z and sums its statistics while the block is in cache;
// the next one normalises z on the way in; the backward recomputes the activation from z in the
// same way and turns the gradient by the activation into the one by z on the way in: eight passes,
// and no tensor is kept but the z's.
#pragma once

#include <cstdint>
#include <vector>

#include "autograd/variable.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/convolution/conv_geometry.h"

namespace torus::ops {

struct ConvNorm {
  Variable weight;  // (O, kH, kW, C / groups); a convolution in front of a batch norm has no bias
  Conv2dOptions convolution;
  Variable norm_weight, norm_bias;  // (O), or undefined
  double eps = 1e-5;
  Activation activation = Activation::kNone;
};

struct ConvChainResult {
  struct Statistics {
    Tensor mean, var;  // (O); biased
    int64_t count = 0;
  };
  Variable y;
  std::vector<Statistics> statistics;  // of each layer's batch norm
};

// In training mode, the same as Conv2d then BatchNormTrain for each of `layers` (at least one), and
// `x` added before the last activation where `residual`, within rounding. f32 chains of 1 x 1
// stride-1 and depthwise convolutions (any first one) are fused; everything else is composed of
// those two ops. BadInput as theirs.
//
// The output of a first layer that widens is made twice instead of kept from `expand_bytes` on: it
// is then too large for the caches, and making it costs less than passes over memory.
ConvChainResult ConvChainTrain(const Variable& x, const std::vector<ConvNorm>& layers,
                               bool residual = false, int64_t expand_bytes = int64_t{4} << 20);

}  // namespace torus::ops
