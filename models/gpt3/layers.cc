#include "models/gpt3/layers.h"

#include "models/nn/loss.h"
#include "ops/activation/activation.h"
#include "ops/elementwise/elementwise.h"
#include "ops/tensor_parallel/rank_sums.h"
#include "ops/view/view.h"
#include "runtime/error.h"

namespace torus::gpt3 {
namespace {

using enum nn::LinearSplit;

// A linear layer with PyTorch's default initialization.
std::shared_ptr<nn::Linear> MakeLinear(int64_t in, int64_t out, DType dtype,
                                       nn::LinearSplit split = kNone, bool bias = true) {
  return std::make_shared<nn::Linear>(
      nn::LinearOptions{.in = in, .out = out, .bias = bias, .dtype = dtype, .split = split});
}

std::shared_ptr<nn::LayerNorm> MakeNorm(const Gpt3Options& o) {
  return std::make_shared<nn::LayerNorm>(nn::LayerNormOptions{.width = o.width, .dtype = o.dtype});
}

}  // namespace

Embedding::Embedding(const Gpt3Options& o) : positions_count_(o.positions) {
  auto add = [&](const char* name, int64_t count, bool split) {
    return AddChild(name,
                    std::make_shared<nn::Embedding>(nn::EmbeddingOptions{.count = count,
                                                                         .width = o.width,
                                                                         .init = nn::XavierNormal(),
                                                                         .dtype = o.dtype,
                                                                         .split = split}));
  };
  words_ = add("vocab_embedding", o.vocab_size, true);
  positions_ = add("position_embedding", o.positions, false);
}

Variable Embedding::Forward(const Variable& ids, const StepContext& ctx) {
  Require(ids.rank() == 2 && ids.dim(1) <= positions_count_, "gpt3",
          "needs token ids (N, T) with T at most {}, got {}", positions_count_, ids.shape());
  const Variable positions(Arange(ids.dim(1), DType::kI64, ids.data().device()));
  return ops::Add(words_->Forward(ids, ctx), positions_->Forward(positions, ctx));
}

std::vector<Variable> Embedding::ForwardAll(const std::vector<Variable>& inputs,
                                            const StepContext& ctx) {
  Require(inputs.size() == 1 || inputs.size() == 2, "gpt3",
          "takes token ids and an attention mask, got {} inputs", inputs.size());
  std::vector<Variable> outputs{Forward(inputs[0], ctx)};
  if (inputs.size() == 2) outputs.push_back(nn::PaddingMask(inputs[1]));
  return outputs;
}

Layer::Layer(const Gpt3Options& o)
    : plan_{.heads = o.heads, .causal = o.causal.value_or(o.head == Gpt3Head::kLm)} {
  query_ = AddChild("attn.q_linear", MakeLinear(o.width, o.width, o.dtype, kOutputs));
  value_ = AddChild("attn.v_linear", MakeLinear(o.width, o.width, o.dtype, kOutputs));
  key_ = AddChild("attn.k_linear", MakeLinear(o.width, o.width, o.dtype, kOutputs));
  out_ = AddChild("attn.out", MakeLinear(o.width, o.width, o.dtype, kInputs));
  wide_ = AddChild("mlp.linear1", MakeLinear(o.width, 4 * o.width, o.dtype, kOutputs));
  narrow_ = AddChild("mlp.linear2", MakeLinear(4 * o.width, o.width, o.dtype, kInputs));
  attention_norm_ = AddChild("norm1", MakeNorm(o));
  mlp_norm_ = AddChild("norm2", MakeNorm(o));
}

void Layer::OnSplit(const TensorPlace& place) { plan_ = nn::PlanOf(plan_, place, "gpt3"); }

Variable Layer::Run(const Variable& input, const Variable& mask, const StepContext& ctx) {
  Require(!mask.defined() || !plan_.causal, "gpt3", "a causal model takes no attention mask");
  const Variable x = attention_norm_->Forward(input, ctx);
  const Variable read = ops::CopyToRanks(x, ctx.tensor_ranks);
  const std::vector<Variable> qkv = nn::Linear::ForwardJointly({query_, key_, value_}, read);
  const Variable attended =
      nn::MultiheadDotProductAttention(qkv[0], qkv[1], qkv[2], mask, plan_, ctx);
  const Variable y = mlp_norm_->Forward(out_->ForwardAdd(attended, x, ctx), ctx);
  const Variable wide = wide_->Forward(ops::CopyToRanks(y, ctx.tensor_ranks), ctx);
  return narrow_->ForwardAdd(ops::Relu(wide), y, ctx);
}

Variable Layer::Forward(const Variable& x, const StepContext& ctx) { return Run(x, {}, ctx); }

std::vector<Variable> Layer::ForwardAll(const std::vector<Variable>& inputs,
                                        const StepContext& ctx) {
  std::vector<Variable> outputs = inputs;
  outputs[0] = Run(inputs[0], inputs.size() > 1 ? inputs[1] : Variable(), ctx);
  return outputs;
}

ClassificationHead::ClassificationHead(const Gpt3Options& o)
    : pooler_(AddChild("pooler_layer", MakeLinear(o.width, o.width, o.dtype))),
      classes_(AddChild("fc_layer", MakeLinear(o.width, o.num_classes, o.dtype))) {}

Variable ClassificationHead::Forward(const Variable& x, const StepContext& ctx) {
  const Variable first = ops::Squeeze(ops::Narrow(x, 1, 0, 1), {1});
  return classes_->Forward(ops::Tanh(pooler_->Forward(first, ctx)), ctx);
}

std::vector<Variable> ClassificationHead::ForwardAll(const std::vector<Variable>& inputs,
                                                     const StepContext& ctx) {
  return {Forward(inputs[0], ctx)};
}

LmHead::LmHead(const Gpt3Options& o)
    : in_loss_(o.head_in_loss),
      vocabulary_(o.vocab_size),
      norm_(AddChild("ln_f", MakeNorm(o))),
      words_(AddChild("lm_head", MakeLinear(o.width, o.vocab_size, o.dtype, kOutputs, false))) {}

void LmHead::OnSplit(const TensorPlace& place) {
  nn::CheckVocabularySplit("gpt3", vocabulary_, place, in_loss_);
}

Variable LmHead::Forward(const Variable& x, const StepContext& ctx) {
  return words_->Forward(norm_->Forward(x, ctx), ctx);
}

std::vector<Variable> LmHead::ForwardAll(const std::vector<Variable>& inputs,
                                         const StepContext& ctx) {
  if (!in_loss_) return {Forward(inputs[0], ctx)};
  std::vector<Variable> outputs{norm_->Forward(inputs[0], ctx), words_->weight()};
  if (place().size > 1) outputs.push_back(nn::VocabularyPart(vocabulary_, place()));
  return outputs;
}

}  // namespace torus::gpt3
