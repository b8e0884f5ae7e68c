#include "models/roberta/embeddings.h"

#include "models/nn/attention_heads.h"
#include "ops/elementwise/elementwise.h"
#include "ops/tokens/tokens.h"
#include "runtime/error.h"

namespace torus {

RobertaEmbeddings::RobertaEmbeddings(const RobertaOptions& o, uint64_t dropout_layer)
    : padding_(o.pad_token_id),
      positions_count_(o.max_position_embeddings),
      dropout_(o.hidden_dropout_prob, dropout_layer) {
  auto add = [&](const char* name, int64_t count, std::optional<int64_t> padding, bool split) {
    return AddChild(
        name, std::make_shared<nn::Embedding>(nn::EmbeddingOptions{.count = count,
                                                                   .width = o.hidden_size,
                                                                   .padding_idx = padding,
                                                                   .stddev = o.initializer_range,
                                                                   .dtype = o.dtype,
                                                                   .split = split}));
  };
  words_ = add("word_embeddings", o.vocab_size, padding_, true);
  types_ = add("token_type_embeddings", o.type_vocab_size, {}, false);
  positions_ = add("position_embeddings", o.max_position_embeddings, padding_, false);
  norm_ = AddChild("LayerNorm",
                   std::make_shared<nn::LayerNorm>(nn::LayerNormOptions{
                       .width = o.hidden_size, .eps = o.layer_norm_eps, .dtype = o.dtype}));
}

Variable RobertaEmbeddings::Embed(const Variable& ids, const Variable& types,
                                  const StepContext& ctx) {
  Require(ids.dim(-1) + padding_ < positions_count_, "roberta",
          "{} tokens need positions up to {}, but there are {}", ids.dim(-1),
          ids.dim(-1) + padding_, positions_count_);
  const Variable positions(ops::PositionsBehindPadding(ids.data(), padding_));
  // If no types are given, all tokens use one row.
  const Variable type =
      types.defined() ? types : Variable(Zeros({1, 1}, DType::kI64, ids.data().device()));
  Variable x = ops::Add(words_->Forward(ids, ctx), types_->Forward(type, ctx));
  x = ops::Add(x, positions_->Forward(positions, ctx));
  return dropout_.Forward(norm_->Forward(x, ctx), ctx);
}

Variable RobertaEmbeddings::Forward(const Variable& ids, const StepContext& ctx) {
  return Embed(ids, {}, ctx);
}

std::vector<Variable> RobertaEmbeddings::ForwardAll(const std::vector<Variable>& inputs,
                                                    const StepContext& ctx) {
  Require(inputs.size() >= 1 && inputs.size() <= 3, "roberta",
          "takes token ids, an attention mask and token types, got {} inputs", inputs.size());
  std::vector<Variable> outputs{Embed(inputs[0], inputs.size() > 2 ? inputs[2] : Variable(), ctx)};
  if (inputs.size() > 1 && inputs[1].defined()) outputs.push_back(nn::PaddingMask(inputs[1]));
  return outputs;
}

}  // namespace torus
