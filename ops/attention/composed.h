// Attention composed of other ops, for what the kernels leave out: an added mask that requires a
// gradient.
#pragma once

#include "autograd/variable.h"
#include "ops/attention/problem.h"

namespace torus::ops {

// As ScaledDotProductAttention with the mask `added` to the scores; holds their matrix.
Variable ComposedAttention(const Variable& query, const Variable& key, const Variable& value,
                           const Variable& added, const AttentionProblem& problem);

}  // namespace torus::ops
