// Measures the time of each block of a model on this machine, for `--cut auto`.
#pragma once

#include <functional>
#include <vector>

#include "parallel/pipeline/block.h"
#include "parallel/pipeline/tensor_header.h"

namespace torus::parallel {

// Seconds that forward and backward of one micro-batch take in each block, on the calling thread
// with its team: the least of `repeats` runs after one to warm up. The first block gets random
// numbers of the shape of `inputs` (zeros where they are integers), each later block the outputs of
// the one before, and each backward starts from gradients of ones. `loss`, where given, is run and
// counted with the last block. Two measurements are never equal, so whatever is derived from one
// must be stored (a checkpoint holds the cuts). Leaves the parameters without gradients. Batch norm
// may be left with statistics that are not committed, so pass a model that is used for nothing
// else.
using OutputLoss = std::function<Variable(const std::vector<Variable>& outputs)>;
std::vector<double> MeasureBlockCosts(const std::vector<Block>& blocks,
                                      const std::vector<TensorSpec>& inputs,
                                      const OutputLoss& loss = {}, int repeats = 3);

}  // namespace torus::parallel
