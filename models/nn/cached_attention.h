// Attention of the tokens behind those of a cache.
#pragma once

#include "models/nn/attention_heads.h"
#include "models/nn/kv_cache.h"

namespace torus::nn {

// Projections of some tokens, as MultiheadDotProductAttention takes them.
struct QueryKeyValue {
  Variable query, key, value;
};

// Appends keys and values of the next T tokens (N, T, width) to the cache. Then each of these
// tokens attends to the cached ones and to those of the T before it, and to itself.
Variable AttendCached(const QueryKeyValue& next, KvCache& cache, const AttentionPlan& plan,
                      const StepContext& ctx);

}  // namespace torus::nn
