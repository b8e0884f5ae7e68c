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
  OutputLoss loss{};  // run and counted with the last block; empty: none
  // Of a block's parameters; empty: steps and optimizer state count as nothing.
  std::function<std::unique_ptr<Optimizer>(std::vector<NamedVariable>)> optimizer{};
  Codec* codec = nullptr;  // of what crosses a cut; null: it is sent as it is
  int repeats = 3;
};

// What each block costs, an entry each, with links that take no time: forward and backward of one
// micro-batch, the optimizer's step, and the codec at the cut behind the block, on the calling
// thread with its team, the least of `repeats` times after one to warm up; the bytes of its outputs
// as they would be sent (without its skip connections, whose links depend on the cuts), of its
// weights, gradients and optimizer state, and those that its forward leaves allocated until its
// backward. The first block gets random numbers of the shape of `inputs` (zeros where they are
// integers), each later block the outputs of the one before, and each backward starts from
// gradients of ones. Two measurements are never equal, so whatever is derived from one must be
// stored (a checkpoint holds the cuts). Leaves the parameters without gradients, and their values
// as they are. Batch norm may be left with statistics that are not committed, so pass a model that
// is used for nothing else, while nothing else in the process allocates.
CostModel MeasureBlockCosts(const std::vector<Block>& blocks, const std::vector<TensorSpec>& inputs,
                            const BlockCostOptions& options = {});

}  // namespace torus::parallel
