// The fused chain on a CPU; ops/conv_chain/kernels.h has the contracts.
#pragma once

#include <vector>

#include "ops/conv_chain/cpu/chain_layer.h"

namespace torus::cpu {

struct ChainInputs {
  Tensor x;
  std::vector<Tensor> weights, norm_weights, norm_biases;  // one per layer
  bool residual = false;
  int64_t expand_bytes = 0;  // as in ConvChainTrain
};

struct ChainStatistics {
  Tensor mean, var;
};

struct ChainInputGradients {
  Tensor x;
  std::vector<Tensor> weights, norm_weights, norm_biases;
};

// A layer of the chain before its forward.
ChainLayer MakeChainLayer(const ConvGeometry& g, ops::Activation activation, double eps);

std::vector<ChainStatistics> ConvChainForward(std::vector<ChainLayer>& layers,
                                              const ChainInputs& in, Tensor& y);
void ConvChainBackward(const std::vector<ChainLayer>& layers, const ChainInputs& in,
                       const Tensor& dy, ChainInputGradients& out);

}  // namespace torus::cpu
