#include "models/nn/attention_heads.h"

#include "ops/attention/attention.h"
#include "ops/view/view.h"
#include "runtime/error.h"

namespace torus::nn {
namespace {

// (N, T, heads x width) to (N, heads, T, width).
Variable ToHeads(const Variable& x, int64_t heads) {
  const Variable apart = ops::Reshape(x, {x.dim(0), x.dim(1), heads, x.dim(2) / heads});
  return ops::Transpose(apart, 1, 2);
}

}  // namespace

AttentionPlan PlanOf(const AttentionPlan& whole, const TensorPlace& place, const char* where) {
  Require(whole.heads % place.size == 0, where,
          "{} tensor-parallel ranks (--tensor) must divide its heads, got {}", place.size,
          whole.heads);
  Require(whole.key_heads % place.size == 0, where,
          "{} tensor-parallel ranks (--tensor) must divide its heads of keys, got {}", place.size,
          whole.key_heads);
  AttentionPlan plan = whole;
  plan.heads /= place.size;
  plan.key_heads /= place.size;
  plan.first_head = place.rank * plan.heads;
  return plan;
}

Variable MultiheadDotProductAttention(const Variable& q, const Variable& k, const Variable& v,
                                      const Variable& mask, const AttentionPlan& plan,
                                      const StepContext& ctx) {
  Require(q.rank() == 3 && q.dim(2) % plan.heads == 0, "attention",
          "needs (N, T, width) with a width that {} heads divide, got {}", plan.heads, q.shape());
  const int64_t key_heads = plan.key_heads == 0 ? plan.heads : plan.key_heads;
  ops::AttentionOptions options{
      .attn_mask = mask, .is_causal = plan.causal, .enable_gqa = key_heads != plan.heads};
  if (plan.scale != 0) options.scale = plan.scale;
  options.dropout_p = plan.dropout;
  options.context = &ctx;
  options.layer = plan.dropout_layer;
  options.first_head = plan.first_head;
  const Variable y = ops::ScaledDotProductAttention(ToHeads(q, plan.heads), ToHeads(k, key_heads),
                                                    ToHeads(v, key_heads), options);
  return ops::Reshape(ops::Transpose(y, 1, 2), q.shape());
}

Variable PaddingMask(const Variable& attention_mask) {
  if (!attention_mask.defined()) return {};
  Require(attention_mask.rank() == 2, "attention", "needs a mask (N, T), got {}",
          attention_mask.shape());
  const Tensor& given = attention_mask.data();
  return Variable(given.To(DType::kBool).Reshape({given.dim(0), 1, 1, given.dim(1)}));
}

}  // namespace torus::nn
