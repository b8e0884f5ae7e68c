// The measured cost of each block of a model on this machine, for `--cut auto`.
#pragma once

#include <functional>
#include <vector>

#include "parallel/pipeline/block.h"
#include "parallel/pipeline/tensor_header.h"

namespace torus::parallel {

// Seconds that forward and backward of one micro-batch take in each block, on the calling thread
// with its team: the least of `repeats` after one to warm up. The first block gets random numbers
// of the shape of `inputs` (zeros where they are integers), each later one what came out before it,
// and each backward a gradient of ones. `loss`, where given, counts in the last block, and its
// backward begins there: a model may leave its head to the loss. It is a measurement: no two are
// equal, so nothing may follow from it but what is stored beside it. Leaves the blocks' parameters
// without gradients; their buffers may have a batch pending, so give it a model of its own.
using OutputLoss = std::function<Variable(const std::vector<Variable>& outputs)>;
std::vector<double> MeasureBlockCosts(const std::vector<Block>& blocks,
                                      const std::vector<TensorSpec>& inputs,
                                      const OutputLoss& loss = {}, int repeats = 3);

}  // namespace torus::parallel
