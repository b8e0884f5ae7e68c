// Attention composed of other ops, for what the kernels leave out: an added mask that requires a
// gradient.
#pragma once

#include "ops/attention/attention_shape.h"
#include "ops/attention/weight_dropout.h"

namespace torus::ops {

// As ScaledDotProductAttention; holds the matrix of scores.
Variable ComposedAttention(const Variable& query, const Variable& key, const Variable& value,
                           const AttentionOptions& options, const AttentionShape& shape,
                           const KeyedDropout& dropout, double scale);

}  // namespace torus::ops
