// Cross entropy of logits and class numbers in one op, for large vocabularies.
#pragma once

#include "autograd/variable.h"
#include "ops/loss/loss_reduction.h"

namespace torus::ops {

// Computes CrossEntropy without weights and smoothing. Besides the logits it keeps two numbers per
// row; the backward writes the gradient in one pass over the logits. Throws BadInput tagged
// cross_entropy.
Variable ClassCrossEntropy(const Variable& input, const Variable& target, int64_t ignore_index,
                           LossReduction reduction);

}  // namespace torus::ops
