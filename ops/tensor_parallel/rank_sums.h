// The two operators of tensor parallelism (f and g in Shoeybi et al. 2019, arXiv:1909.08053,
// section 3). Between them, each rank computes with its part of a layer's weights, and the results
// add up to the layer's output.
//
//   y = SumOverRanks(Linear(act(Linear(CopyToRanks(x), W1 by columns)), W2 by rows))
//
// With one rank both return the input itself. The gradient of CopyToRanks' input has the same bits
// on all ranks, and so has everything outside of such a pair.
#pragma once

#include "autograd/variable.h"
#include "runtime/tensor_ranks.h"

namespace torus::ops {

// Returns the input, which is equal on all ranks; its gradient is the sum of the ranks' gradients.
Variable CopyToRanks(const Variable& input, const TensorRanks& ranks);

// Returns the sum of the ranks' inputs; each input gets the gradient unchanged.
Variable SumOverRanks(const Variable& input, const TensorRanks& ranks);

}  // namespace torus::ops
