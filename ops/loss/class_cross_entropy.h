// Cross entropy of logits with class numbers, in one op: for large vocabularies.
#pragma once

#include "autograd/variable.h"
#include "ops/loss/loss_reduction.h"

namespace torus::ops {

// As CrossEntropy without weights and smoothing. Beside the logits it keeps two numbers for each
// row; the backward writes the gradient in one pass over them. BadInput tagged cross_entropy.
Variable ClassCrossEntropy(const Variable& input, const Variable& target, int64_t ignore_index,
                           LossReduction reduction);

}  // namespace torus::ops
