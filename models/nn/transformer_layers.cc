#include "models/nn/transformer_layers.h"

#include "runtime/error.h"

namespace torus::nn {

TransformerLayer::TransformerLayer(const TransformerLayerOptions& options)
    : options_(options), activation_(ActivationByName(options.activation, "transformer")) {}

std::shared_ptr<MultiheadAttention> TransformerLayer::AddAttention(const char* name,
                                                                   uint64_t dropout) {
  return AddChild(name, std::make_shared<MultiheadAttention>(MultiheadAttentionOptions{
                            .embed_dim = options_.d_model,
                            .num_heads = options_.nhead,
                            .dropout = options_.dropout,
                            .bias = options_.bias,
                            .dropout_layer = options_.dropout_layer + dropout,
                            .dtype = options_.dtype}));
}

std::shared_ptr<LayerNorm> TransformerLayer::AddNorm(const char* name) {
  return AddChild(name, std::make_shared<LayerNorm>(LayerNormOptions{.width = options_.d_model,
                                                                     .eps = options_.layer_norm_eps,
                                                                     .bias = options_.bias,
                                                                     .dtype = options_.dtype}));
}

void TransformerLayer::AddMlp(uint64_t dropout) {
  const auto add = [&](const char* name, int64_t in, int64_t out) {
    return AddChild(name,
                    std::make_shared<Linear>(LinearOptions{
                        .in = in, .out = out, .bias = options_.bias, .dtype = options_.dtype}));
  };
  wide_ = add("linear1", options_.d_model, options_.dim_feedforward);
  narrow_ = add("linear2", options_.dim_feedforward, options_.d_model);
  inner_dropout_ = std::make_unique<Dropout>(options_.dropout, options_.dropout_layer + dropout);
}

Variable TransformerLayer::Mlp(const Variable& x, const StepContext& ctx) {
  const Variable inner = inner_dropout_->Forward(activation_(wide_->Forward(x, ctx)), ctx);
  return narrow_->Forward(inner, ctx);
}

TransformerEncoderLayer::TransformerEncoderLayer(const TransformerLayerOptions& options)
    : TransformerLayer(options),
      attention_(AddAttention("self_attn", 0)),
      attention_dropout_(options.dropout, options.dropout_layer + 1),
      mlp_dropout_(options.dropout, options.dropout_layer + 3) {
  AddMlp(2);
  attention_norm_ = AddNorm("norm1");
  mlp_norm_ = AddNorm("norm2");
}

Variable TransformerEncoderLayer::Encode(const Variable& src, const AttentionMasks& masks,
                                         const StepContext& ctx) {
  const Variable attended =
      Residual(src, *attention_norm_, attention_dropout_, ctx,
               [&](const Variable& x) { return attention_->Attend(x, x, x, masks, ctx); });
  return Residual(attended, *mlp_norm_, mlp_dropout_, ctx,
                  [&](const Variable& x) { return Mlp(x, ctx); });
}

Variable TransformerEncoderLayer::Forward(const Variable& x, const StepContext& ctx) {
  return Encode(x, {}, ctx);
}

std::vector<Variable> TransformerEncoderLayer::ForwardAll(const std::vector<Variable>& inputs,
                                                          const StepContext& ctx) {
  std::vector<Variable> outputs = inputs;
  AttentionMasks masks;
  if (inputs.size() > 1) masks.key_padding_mask = inputs[1];
  outputs[0] = Encode(inputs[0], masks, ctx);
  return outputs;
}

TransformerDecoderLayer::TransformerDecoderLayer(const TransformerLayerOptions& options)
    : TransformerLayer(options),
      self_(AddAttention("self_attn", 0)),
      cross_(AddAttention("multihead_attn", 2)),
      self_dropout_(options.dropout, options.dropout_layer + 1),
      cross_dropout_(options.dropout, options.dropout_layer + 3),
      mlp_dropout_(options.dropout, options.dropout_layer + 5) {
  AddMlp(4);
  self_norm_ = AddNorm("norm1");
  cross_norm_ = AddNorm("norm2");
  mlp_norm_ = AddNorm("norm3");
}

Variable TransformerDecoderLayer::Decode(const Variable& tgt, const Variable& memory,
                                         const AttentionMasks& tgt_masks,
                                         const AttentionMasks& memory_masks,
                                         const StepContext& ctx) {
  const Variable own = Residual(tgt, *self_norm_, self_dropout_, ctx, [&](const Variable& x) {
    return self_->Attend(x, x, x, tgt_masks, ctx);
  });
  const Variable both = Residual(own, *cross_norm_, cross_dropout_, ctx, [&](const Variable& x) {
    return cross_->Attend(x, memory, memory, memory_masks, ctx);
  });
  return Residual(both, *mlp_norm_, mlp_dropout_, ctx,
                  [&](const Variable& x) { return Mlp(x, ctx); });
}

Variable TransformerDecoderLayer::Forward(const Variable&, const StepContext&) {
  Throw<BadInput>("transformer", "a decoder layer needs tgt and memory, got one input");
}

std::vector<Variable> TransformerDecoderLayer::ForwardAll(const std::vector<Variable>& inputs,
                                                          const StepContext& ctx) {
  Require(inputs.size() >= 2, "transformer", "a decoder layer needs tgt and memory, got {} inputs",
          inputs.size());
  std::vector<Variable> outputs = inputs;
  outputs[0] = Decode(inputs[0], inputs[1], {.is_causal = true}, {}, ctx);
  return outputs;
}

}  // namespace torus::nn
