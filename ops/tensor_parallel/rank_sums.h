// The two operators between tensor-parallel ranks (Shoeybi et al. 2019, arXiv:1909.08053, section
// 3, f and g): what each rank computes between them from its part of a layer's weights adds up to
// the layer.
//
//   y = SumOverRanks(Linear(act(Linear(CopyToRanks(x), W1 by columns)), W2 by rows))
//
// Both are the input itself where there is one rank. Gradients that meet behind CopyToRanks are the
// same bits on all ranks, and so is all that lies outside of such a pair.
#pragma once

#include "autograd/variable.h"
#include "runtime/tensor_ranks.h"

namespace torus::ops {

// The input, equal on all ranks; its gradient is the sum of the ranks' gradients.
Variable CopyToRanks(const Variable& input, const TensorRanks& ranks);

// The sum of the ranks' inputs; the gradient goes to each of them as it is.
Variable SumOverRanks(const Variable& input, const TensorRanks& ranks);

}  // namespace torus::ops
