// A fused chain of convolutions, each followed by batch norm and activation, that never stores the
// inner activations.
//
//   x -> conv -> norm -> act -> conv -> norm -> act -> ... -> conv -> norm -> (+ x) -> act -> y
//
// Training such a chain layer by layer is bound by memory traffic: around 14 passes over every
// activation. Here each convolution writes its raw output z and sums its statistics while the block
// is in cache, and the next one normalises z as it reads it. The backward recomputes the activation
// from z in the same way, and computes the gradient of z from that of the activation as it reads
// it. That takes eight passes, and only the z's are kept.
#pragma once

#include <cstdint>
#include <vector>

#include "autograd/variable.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/convolution/conv_geometry.h"

namespace torus::ops {

// A convolution with the batch norm and activation behind it.
struct ConvNorm {
  Variable weight;  // (O, kH, kW, C / groups); a convolution in front of a batch norm has no bias
  Conv2dOptions convolution;                  // stride, padding, dilation, groups
  Variable norm_weight, norm_bias;            // (O), or undefined
  double eps = 1e-5;                          // of the batch norm
  Activation activation = Activation::kNone;  // behind it
};

// The result, and the statistics that it was normalised with.
struct ConvChainResult {
  // Of a batch norm.
  struct Statistics {
    Tensor mean, var;   // (O); biased
    int64_t count = 0;  // values of each channel
  };
  Variable y;                          // of the last layer
  std::vector<Statistics> statistics;  // of each layer's batch norm
};

// Computes, within rounding, Conv2d then BatchNormTrain for each of `layers` (at least one); with
// `residual`, adds `x` before the last activation. On a CPU, fuses chains of 1 x 1 stride-1 and
// depthwise convolutions (the first may be any) without an activation after a residual, in f32,
// also for bf16 inputs where bf16 is native. Composes other chains of those two ops. Throws
// BadInput as they do.
//
// If the output of a widening first layer has at least `expand_bytes` bytes, it is recomputed in
// the backward instead of kept: it is too large for the caches, and computing it twice costs less
// than passes over memory.
ConvChainResult ConvChainTrain(const Variable& x, const std::vector<ConvNorm>& layers,
                               bool residual = false, int64_t expand_bytes = int64_t{4} << 20);

}  // namespace torus::ops
