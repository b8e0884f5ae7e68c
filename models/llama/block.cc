#include "models/llama/block.h"

#include "ops/activation/activation.h"
#include "ops/activation/swiglu.h"
#include "ops/elementwise/elementwise.h"
#include "ops/rotary/rotary.h"
#include "ops/tensor_parallel/rank_sums.h"
#include "ops/view/view.h"

namespace torus {

LlamaBlock::LlamaBlock(const LlamaOptions& o, uint64_t dropout_layer)
    : plan_{.heads = o.num_attention_heads,
            .key_heads = o.key_value_heads(),
            .causal = true,
            .dropout = o.attention_dropout,
            .dropout_layer = dropout_layer},
      head_width_(o.width_of_head()),
      rope_(o.rope),
      activation_(nn::ActivationByName(o.hidden_act, "llama")) {
  using enum nn::LinearSplit;
  const auto norm = [&](const char* name) {
    return AddChild(name, std::make_shared<nn::RmsNorm>(nn::RmsNormOptions{
                              .width = o.hidden_size, .eps = o.rms_norm_eps, .dtype = o.dtype}));
  };
  const auto linear = [&](const char* name, int64_t in, int64_t out, bool bias,
                          nn::LinearSplit split) {
    return AddChild(name, std::make_shared<nn::Linear>(
                              nn::LinearOptions{.in = in,
                                                .out = out,
                                                .weight_init = nn::Normal(0, o.initializer_range),
                                                .bias_init = nn::Constant(0),
                                                .bias = bias,
                                                .dtype = o.dtype,
                                                .split = split}));
  };
  const int64_t width = o.hidden_size, inner = o.intermediate_size;
  const int64_t queries = plan_.heads * head_width_, keys = plan_.key_heads * head_width_;
  attention_norm_ = norm("input_layernorm");
  query_ = linear("self_attn.q_proj", width, queries, o.attention_bias, kOutputs);
  key_ = linear("self_attn.k_proj", width, keys, o.attention_bias, kOutputs);
  value_ = linear("self_attn.v_proj", width, keys, o.attention_bias, kOutputs);
  attended_ = linear("self_attn.o_proj", queries, width, o.attention_bias, kInputs);
  mlp_norm_ = norm("post_attention_layernorm");
  gate_ = linear("mlp.gate_proj", width, inner, o.mlp_bias, kOutputs);
  up_ = linear("mlp.up_proj", width, inner, o.mlp_bias, kOutputs);
  down_ = linear("mlp.down_proj", inner, width, o.mlp_bias, kInputs);
}

void LlamaBlock::OnSplit(const TensorPlace& place) { plan_ = nn::PlanOf(plan_, place, "llama"); }

int64_t LlamaBlock::cache_width() const { return plan_.key_heads * head_width_; }

Variable LlamaBlock::Turned(const Variable& heads, int64_t first) const {
  const Variable apart = ops::Reshape(heads, {heads.dim(0), heads.dim(1), -1, head_width_});
  const ops::RotaryOptions options{.frequencies = rope_, .first = first};
  return ops::Reshape(ops::RotaryEmbedding(apart, options), heads.shape());
}

nn::QueryKeyValue LlamaBlock::Project(const Variable& x, int64_t first, const StepContext& ctx) {
  const Variable read = ops::CopyToRanks(attention_norm_->Forward(x, ctx), ctx.tensor_ranks);
  const std::vector<Variable> all = nn::Linear::ForwardJointly({query_, key_, value_}, read);
  return {Turned(all[0], first), Turned(all[1], first), all[2]};
}

Variable LlamaBlock::Mlp(const Variable& attended, const StepContext& ctx) {
  const Variable read = ops::CopyToRanks(mlp_norm_->Forward(attended, ctx), ctx.tensor_ranks);
  const std::vector<Variable> both = nn::Linear::ForwardJointly({gate_, up_}, read);
  const bool silu = activation_ == nn::ActivationFn(ops::Silu);
  const Variable inner =
      silu ? ops::Swiglu(both[0], both[1]) : ops::Mul(activation_(both[0]), both[1]);
  return down_->ForwardAdd(inner, attended, ctx);
}

Variable LlamaBlock::Run(const Variable& x, const Variable& mask, const StepContext& ctx) {
  const nn::QueryKeyValue in = Project(x, 0, ctx);
  nn::AttentionPlan plan = plan_;
  plan.causal = !mask.defined();
  const Variable y = nn::MultiheadDotProductAttention(in.query, in.key, in.value, mask, plan, ctx);
  return Mlp(attended_->ForwardAdd(y, x, ctx), ctx);
}

Variable LlamaBlock::Extend(const Variable& x, nn::KvCache& cache) {
  const StepContext ctx{.training = false};
  const Variable y = nn::AttendCached(Project(x, cache.length(), ctx), cache, plan_, ctx);
  return Mlp(attended_->ForwardAdd(y, x, ctx), ctx);
}

Variable LlamaBlock::Forward(const Variable& x, const StepContext& ctx) { return Run(x, {}, ctx); }

std::vector<Variable> LlamaBlock::ForwardAll(const std::vector<Variable>& inputs,
                                             const StepContext& ctx) {
  std::vector<Variable> outputs = inputs;
  outputs[0] = Run(inputs[0], inputs.size() > 1 ? inputs[1] : Variable(), ctx);
  return outputs;
}

}  // namespace torus
