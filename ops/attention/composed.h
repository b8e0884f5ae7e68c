// Attention composed of other ops, for the case that the kernels do not support: an added mask that
// requires a gradient.
#pragma once

#include "autograd/variable.h"
#include "ops/attention/problem.h"

namespace torus::ops {

// Computes ScaledDotProductAttention with the mask `added` to the scores; keeps the matrix of
// scores in memory.
Variable ComposedAttention(const Variable& query, const Variable& key, const Variable& value,
                           const Variable& added, const AttentionProblem& problem);

}  // namespace torus::ops
