#include "models/roberta/heads.h"

#include "autograd/leaf_alias.h"
#include "models/nn/loss.h"
#include "ops/activation/activation.h"
#include "ops/matmul/linear.h"
#include "ops/view/view.h"
#include "runtime/error.h"

namespace torus {
namespace {

std::shared_ptr<nn::Linear> MakeLinear(const RobertaOptions& o, int64_t out) {
  return std::make_shared<nn::Linear>(
      nn::LinearOptions{.in = o.hidden_size,
                        .out = out,
                        .weight_init = nn::Normal(0, o.initializer_range),
                        .bias_init = nn::Constant(0),
                        .dtype = o.dtype});
}

}  // namespace

RobertaClassificationHead::RobertaClassificationHead(const RobertaOptions& o,
                                                     uint64_t dropout_layer)
    : dense_(AddChild("dense", MakeLinear(o, o.hidden_size))),
      out_(AddChild("out_proj", MakeLinear(o, o.num_labels))),
      first_(o.classifier_dropout.value_or(o.hidden_dropout_prob), dropout_layer),
      second_(o.classifier_dropout.value_or(o.hidden_dropout_prob), dropout_layer + 1) {}

Variable RobertaClassificationHead::Forward(const Variable& x, const StepContext& ctx) {
  const Variable first = ops::Squeeze(ops::Narrow(x, 1, 0, 1), {1});
  const Variable y = ops::Tanh(dense_->Forward(first_.Forward(first, ctx), ctx));
  return out_->Forward(second_.Forward(y, ctx), ctx);
}

std::vector<Variable> RobertaClassificationHead::ForwardAll(const std::vector<Variable>& inputs,
                                                            const StepContext& ctx) {
  return {Forward(inputs[0], ctx)};
}

RobertaLmHead::RobertaLmHead(const RobertaOptions& o, const Variable& words)
    : in_loss_(o.head_in_loss), vocabulary_(o.vocab_size), words_(words) {
  bias_ = AddParameter("bias", {o.vocab_size}, o.dtype, nn::Constant(0), TensorSplit{});
  TieParameter("decoder.weight", "roberta.embeddings.word_embeddings.weight", words);
  TieParameter("decoder.bias", "lm_head.bias", bias_);
  dense_ = AddChild("dense", MakeLinear(o, o.hidden_size));
  norm_ = AddChild("layer_norm",
                   std::make_shared<nn::LayerNorm>(nn::LayerNormOptions{
                       .width = o.hidden_size, .eps = o.layer_norm_eps, .dtype = o.dtype}));
}

void RobertaLmHead::OnSplit(const TensorPlace& place) {
  nn::CheckVocabularySplit("roberta", vocabulary_, place, in_loss_);
}

Variable RobertaLmHead::Hidden(const Variable& x, const StepContext& ctx) {
  return norm_->Forward(ops::Gelu(dense_->Forward(x, ctx)), ctx);
}

Variable RobertaLmHead::Forward(const Variable& x, const StepContext& ctx) {
  return ops::Linear(Hidden(x, ctx), words_, bias_);
}

std::vector<Variable> RobertaLmHead::ForwardAll(const std::vector<Variable>& inputs,
                                                const StepContext& ctx) {
  // The loss runs outside of the scope in which LeafAlias replaces the weight by the alias of this
  // use.
  if (!in_loss_) return {Forward(inputs[0], ctx)};
  std::vector<Variable> outputs{Hidden(inputs[0], ctx), LeafAlias::Of(words_)};
  if (place().size > 1) outputs.push_back(nn::VocabularyPart(vocabulary_, place()));
  outputs.push_back(bias_);
  return outputs;
}

}  // namespace torus
