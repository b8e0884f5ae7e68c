// Measures the time and memory of each block of a model on this machine, for `--cut auto`.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "parallel/codec/codec.h"
#include "parallel/optim/optimizer.h"
#include "parallel/pipeline/block.h"
#include "parallel/pipeline/tensor_header.h"
#include "parallel/schedule/cost_model.h"

namespace torus::parallel {

using OutputLoss = std::function<Variable(const std::vector<Variable>& outputs)>;

struct BlockCostOptions {
  OutputLoss loss{};  // run and timed with the last block; empty: none
  // Makes the optimizer of a block's parameters; empty: steps and optimizer state cost nothing.
  std::function<std::unique_ptr<Optimizer>(std::vector<NamedVariable>)> optimizer{};
  Codec* codec = nullptr;  // for what crosses a cut; null: none
  int repeats = 3;
  Device device{};  // the blocks are moved there, and stay
};

// Measures each block and returns costs with one entry per block and links that take no time. Times
// are those of forward and backward of one micro-batch, the optimizer's step, and the codec at the
// cut after the block, on the calling thread with its team: the least of `repeats` after one
// warm-up. Bytes are those of the outputs as sent (without skip connections, whose links depend on
// the cuts), of weights, gradients and optimizer state, and those that the forward leaves allocated
// until the backward. On a GPU a time ends when its work is done; it is that of separate launches,
// and a graph of them takes less. What the codec cannot encode there is copied to the CPU and back,
// which counts as encoding and decoding.
//
// The first block gets random numbers of the shape of `inputs` (zeros if they are integers), each
// later block the outputs of the one before. Each backward starts from gradients of ones. No two
// measurements are equal, so store what is derived from one (a checkpoint holds the cuts). Leaves
// the parameters' values as they are, without gradients. Batch norm may keep statistics that are
// not committed, so pass a model that is used for nothing else. Nothing else in the process may
// allocate meanwhile.
CostModel MeasureBlockCosts(const std::vector<Block>& blocks, const std::vector<TensorSpec>& inputs,
                            const BlockCostOptions& options = {});

}  // namespace torus::parallel
