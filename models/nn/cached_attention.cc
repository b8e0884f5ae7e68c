#include "models/nn/cached_attention.h"

#include "ops/tokens/tokens.h"

namespace torus::nn {

Variable AttendCached(const QueryKeyValue& next, KvCache& cache, const AttentionPlan& plan,
                      const StepContext& ctx) {
  AttentionPlan now = plan;
  now.causal = cache.length() == 0;  // row i attends to keys 0 to i; later a mask does this
  cache.Append(next.key.data(), next.value.data());
  const int64_t tokens = next.query.dim(1);
  Variable mask;
  if (!now.causal && tokens > 1)  // a single token attends to all
    mask = Variable(ops::CausalMask(tokens, cache.length(), next.query.data().device()));
  return MultiheadDotProductAttention(next.query, Variable(cache.keys()), Variable(cache.values()),
                                      mask, now, ctx);
}

}  // namespace torus::nn
