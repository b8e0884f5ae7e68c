// The measured cost of each block of a model on this machine, for `--cut auto`.
#pragma once

#include <vector>

#include "parallel/pipeline/block.h"
#include "parallel/pipeline/tensor_header.h"

namespace torus::parallel {

// Seconds that forward and backward of one micro-batch take in each block, on the calling thread
// with its team: the least of `repeats` after one to warm up. The first block gets random numbers
// of the shape of `inputs` (zeros where they are integers), each later one what came out before it,
// and each backward a gradient of ones. It is a measurement: no two are equal, so nothing may
// follow from it but what is stored beside it. Leaves the blocks' parameters without gradients;
// their buffers may have a batch pending, so give it a model of its own.
std::vector<double> MeasureBlockCosts(const std::vector<Block>& blocks,
                                      const std::vector<TensorSpec>& inputs, int repeats = 3);

}  // namespace torus::parallel
