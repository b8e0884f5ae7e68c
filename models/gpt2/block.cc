#include "models/gpt2/block.h"

#include <cmath>

#include "ops/elementwise/elementwise.h"
#include "ops/mlp/mlp.h"
#include "ops/tensor_parallel/rank_sums.h"
#include "ops/view/join.h"

namespace torus {
namespace {

double Scale(const Gpt2Options& o, int64_t number) {
  const auto head = static_cast<double>(o.n_embd / o.n_head);
  const double scale = o.scale_attn_weights ? 1 / std::sqrt(head) : 1;
  return o.scale_attn_by_inverse_layer_idx ? scale / static_cast<double>(number + 1) : scale;
}

}  // namespace

Gpt2Block::Gpt2Block(const Gpt2Options& o, int64_t number, uint64_t dropout_layer)
    : width_(o.n_embd),
      plan_{.heads = o.n_head,
            .causal = true,
            .scale = Scale(o, number),
            .dropout = o.attn_pdrop,
            .dropout_layer = dropout_layer},
      activation_(nn::ActivationByName(o.activation_function, "gpt2")),
      attention_dropout_(o.resid_pdrop, dropout_layer + 1),
      mlp_dropout_(o.resid_pdrop, dropout_layer + 2) {
  auto norm = [&](const char* name) {
    return AddChild(
        name, std::make_shared<nn::LayerNorm>(nn::LayerNormOptions{
                  .width = width_, .eps = o.layer_norm_epsilon, .bias = o.bias, .dtype = o.dtype}));
  };
  using enum nn::LinearSplit;
  auto linear = [&](const char* name, int64_t in, int64_t out, double stddev, nn::LinearSplit split,
                    int64_t groups = 1) {
    return AddChild(name, std::make_shared<Gpt2Linear>(Gpt2LinearOptions{.in = in,
                                                                         .out = out,
                                                                         .stddev = stddev,
                                                                         .bias = o.bias,
                                                                         .dtype = o.dtype,
                                                                         .split = split,
                                                                         .groups = groups}));
  };
  // Weights of layers that add to the residual path start smaller the more such layers there are
  // (Radford et al. 2019, section 2.3).
  const double residual = o.initializer_range / std::sqrt(2.0 * static_cast<double>(o.n_layer));
  const int64_t inner = o.n_inner.value_or(4 * width_);
  attention_norm_ = norm("ln_1");
  qkv_ = linear("attn.c_attn", width_, 3 * width_, o.initializer_range, kOutputs, 3);
  attended_ = linear("attn.c_proj", width_, width_, residual, kInputs);
  mlp_norm_ = norm("ln_2");
  wide_ = linear("mlp.c_fc", width_, inner, o.initializer_range, kOutputs);
  narrow_ = linear("mlp.c_proj", inner, width_, residual, kInputs);
}

// From here on, width_ is that of this rank's heads.
void Gpt2Block::OnSplit(const TensorPlace& place) {
  plan_ = nn::PlanOf(plan_, place, "gpt2");
  width_ /= place.size;
}

Variable Gpt2Block::Attend(const Variable& x, const Variable& mask, const Variable& residual,
                           const StepContext& ctx) {
  const Variable read = ops::CopyToRanks(x, ctx.tensor_ranks);
  const std::vector<Variable> qkv = ops::Split(qkv_->Forward(read, ctx), width_, -1);
  nn::AttentionPlan plan = plan_;
  plan.causal = !mask.defined();
  const Variable y = nn::MultiheadDotProductAttention(qkv[0], qkv[1], qkv[2], mask, plan, ctx);
  return attended_->ForwardAdd(y, residual, attention_dropout_, ctx);
}

Variable Gpt2Block::Run(const Variable& x, const Variable& mask, const StepContext& ctx) {
  return Mlp(Attend(attention_norm_->Forward(x, ctx), mask, x, ctx), ctx);
}

Variable Gpt2Block::Mlp(const Variable& attended, const StepContext& ctx) {
  const Variable read = ops::CopyToRanks(mlp_norm_->Forward(attended, ctx), ctx.tensor_ranks);
  // With GPT-2's own activation, GeluMlp fuses both layers where that is faster.
  if (activation_ != nn::ActivationByName("gelu_new", "gpt2"))
    return narrow_->ForwardAdd(activation_(wide_->Forward(read, ctx)), attended, mlp_dropout_, ctx);
  const auto layers = [&](const Variable& bias, const Variable& residual) {
    return ops::GeluMlp(read, {wide_->weight(), wide_->bias(), narrow_->weight(), bias}, residual);
  };
  if (!mlp_dropout_.IsActive(ctx) && ctx.tensor_ranks.size == 1)
    return layers(narrow_->bias(), attended);
  const Variable y = nn::OutputsOf(nn::LinearSplit::kInputs, narrow_->bias(), ctx.tensor_ranks,
                                   [&](const Variable& bias) { return layers(bias, Variable()); });
  return mlp_dropout_.ForwardAdd(y, attended, ctx);
}

Variable Gpt2Block::AttendCached(const Variable& x, nn::KvCache& cache, const StepContext& ctx) {
  const std::vector<Variable> qkv = ops::Split(qkv_->Forward(x, ctx), width_, -1);
  return attended_->Forward(nn::AttendCached({qkv[0], qkv[1], qkv[2]}, cache, plan_, ctx), ctx);
}

Variable Gpt2Block::Extend(const Variable& x, nn::KvCache& cache) {
  const StepContext ctx{.training = false};
  return Mlp(ops::Add(AttendCached(attention_norm_->Forward(x, ctx), cache, ctx), x), ctx);
}

Variable Gpt2Block::Forward(const Variable& x, const StepContext& ctx) { return Run(x, {}, ctx); }

std::vector<Variable> Gpt2Block::ForwardAll(const std::vector<Variable>& inputs,
                                            const StepContext& ctx) {
  std::vector<Variable> outputs = inputs;
  outputs[0] = Run(inputs[0], inputs.size() > 1 ? inputs[1] : Variable(), ctx);
  return outputs;
}

}  // namespace torus
