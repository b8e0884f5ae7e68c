#include "models/roberta/encoder_layer.h"

#include "ops/tensor_parallel/rank_sums.h"
#include "ops/view/view.h"

namespace torus {

RobertaLayer::RobertaLayer(const RobertaOptions& o, uint64_t dropout_layer, Output output)
    : kind_(output),
      plan_{.heads = o.num_attention_heads,
            .dropout = o.attention_probs_dropout_prob,
            .dropout_layer = dropout_layer},
      activation_(nn::ActivationByName(o.hidden_act, "roberta")),
      attention_dropout_(o.hidden_dropout_prob, dropout_layer + 1),
      output_dropout_(o.hidden_dropout_prob, dropout_layer + 2) {
  using enum nn::LinearSplit;
  auto linear = [&](const char* name, int64_t in, int64_t out, nn::LinearSplit split) {
    return AddChild(name, std::make_shared<nn::Linear>(
                              nn::LinearOptions{.in = in,
                                                .out = out,
                                                .weight_init = nn::Normal(0, o.initializer_range),
                                                .bias_init = nn::Constant(0),
                                                .dtype = o.dtype,
                                                .split = split}));
  };
  auto norm = [&](const char* name) {
    return AddChild(name, std::make_shared<nn::LayerNorm>(nn::LayerNormOptions{
                              .width = o.hidden_size, .eps = o.layer_norm_eps, .dtype = o.dtype}));
  };
  query_ = linear("attention.self.query", o.hidden_size, o.hidden_size, kOutputs);
  key_ = linear("attention.self.key", o.hidden_size, o.hidden_size, kOutputs);
  value_ = linear("attention.self.value", o.hidden_size, o.hidden_size, kOutputs);
  attended_ = linear("attention.output.dense", o.hidden_size, o.hidden_size, kInputs);
  attention_norm_ = norm("attention.output.LayerNorm");
  intermediate_ = linear("intermediate.dense", o.hidden_size, o.intermediate_size, kOutputs);
  output_ = linear("output.dense", o.intermediate_size, o.hidden_size, kInputs);
  output_norm_ = norm("output.LayerNorm");
}

void RobertaLayer::OnSplit(const TensorPlace& place) {
  plan_ = nn::PlanOf(plan_, place, "roberta");
}

// The tokens that this layer outputs.
Variable RobertaLayer::Own(const Variable& x) const {
  return kind_ == Output::kAll ? x : ops::Narrow(x, 1, 0, 1);
}

// Query, key and value.
std::vector<Variable> RobertaLayer::Project(const Variable& asks, const Variable& read,
                                            const StepContext& ctx) {
  if (kind_ == Output::kAll) return nn::Linear::ForwardJointly({query_, key_, value_}, read);
  return {query_->Forward(asks, ctx), key_->Forward(read, ctx), value_->Forward(read, ctx)};
}

Variable RobertaLayer::Run(const Variable& x, const Variable& mask, const StepContext& ctx) {
  const TensorRanks& ranks = ctx.tensor_ranks;
  const Variable own = Own(x), read = ops::CopyToRanks(x, ranks);
  const std::vector<Variable> qkv = Project(ranks.size == 1 ? own : Own(read), read, ctx);
  Variable y = nn::MultiheadDotProductAttention(qkv[0], qkv[1], qkv[2], mask, plan_, ctx);
  y = attended_->ForwardAdd(y, own, attention_dropout_, ctx);
  const Variable attended = attention_norm_->Forward(y, ctx);
  const Variable wide = intermediate_->Forward(ops::CopyToRanks(attended, ranks), ctx);
  y = output_->ForwardAdd(activation_(wide), attended, output_dropout_, ctx);
  return output_norm_->Forward(y, ctx);
}

Variable RobertaLayer::Forward(const Variable& x, const StepContext& ctx) {
  return Run(x, {}, ctx);
}

std::vector<Variable> RobertaLayer::ForwardAll(const std::vector<Variable>& inputs,
                                               const StepContext& ctx) {
  std::vector<Variable> outputs = inputs;
  outputs[0] = Run(inputs[0], inputs.size() > 1 ? inputs[1] : Variable(), ctx);
  return outputs;
}

}  // namespace torus
