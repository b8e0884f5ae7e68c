// Chains of convolutions to test the fused ones on.
#pragma once

#include <vector>

#include "ops/conv_chain/conv_chain.h"
#include "tests/testing/twins.h"

namespace torus::testing {

// Maybe a dense first layer, then 1 x 1 and depthwise ones.
struct ConvChainCase {
  Tensor x, dy;
  std::vector<Tensor> weights, norm_weights, norm_biases;
  std::vector<ops::Conv2dOptions> options;
  std::vector<ops::Activation> activations;
  bool residual;
  int64_t expand_bytes = int64_t{4} << 20;  // 0: what widens is always made again
};

// Appends a layer with random weights and activation.
void AddLayer(ConvChainCase& chain, OddShapes& draw, int64_t in, int64_t out, int64_t kernel,
              bool depthwise);

// `expand`: begins with a widening 1 x 1 and a depthwise layer.
ConvChainCase RandomChain(OddShapes& draw, bool expand);

struct ConvChainResults {
  Tensor y;
  std::vector<Tensor> gradients, statistics;
};

// By the fused op, in `dtype`; gradients of x, then of each layer's weight, scale and shift.
ConvChainResults RunChain(const ConvChainCase& chain, DType dtype);

}  // namespace torus::testing
