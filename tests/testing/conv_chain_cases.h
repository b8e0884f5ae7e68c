// Chains of convolutions for the tests of the fused op.
#pragma once

#include <vector>

#include "ops/conv_chain/conv_chain.h"
#include "tests/testing/twins.h"

namespace torus::testing {

// May begin with a dense layer; then 1 x 1 and depthwise layers.
struct ConvChainCase {
  Tensor x, dy;
  std::vector<Tensor> weights, norm_weights, norm_biases;
  std::vector<ops::Conv2dOptions> options;
  std::vector<ops::Activation> activations;
  bool residual;
  int64_t expand_bytes = int64_t{4} << 20;  // 0: widened activations are always recomputed
};

// Appends a layer with random weights and activation.
void AddLayer(ConvChainCase& chain, OddShapes& draw, int64_t in, int64_t out, int64_t kernel,
              bool depthwise);

// `expand`: the chain begins with a widening 1 x 1 and a depthwise layer.
ConvChainCase RandomChain(OddShapes& draw, bool expand);

struct ConvChainResults {
  Tensor y;
  std::vector<Tensor> gradients, statistics;
};

// Runs the fused op in `dtype`. The gradients are those of x, then of each layer's weight, scale
// and shift.
ConvChainResults RunChain(const ConvChainCase& chain, DType dtype);

}  // namespace torus::testing
