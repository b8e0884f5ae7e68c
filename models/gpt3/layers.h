// The layers of GPT-3 XL.
#pragma once

#include <memory>
#include <vector>

#include "models/gpt3/gpt3.h"
#include "models/nn/attention_heads.h"
#include "models/nn/embedding.h"
#include "models/nn/layer_norm.h"
#include "models/nn/linear.h"

namespace torus::gpt3 {

// Children "vocab_embedding" and "position_embedding".
class Embedding : public nn::Module {
 public:
  explicit Embedding(const Gpt3Options& options);
  Variable Forward(const Variable& ids, const StepContext& ctx) override;
  // Maps {ids} to {activation}, and {ids, mask (N, T)} to {activation, mask (N, 1, 1, T)}.
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;

 private:
  int64_t positions_count_;
  std::shared_ptr<nn::Embedding> words_, positions_;
};

// Children "attn.q_linear", "attn.v_linear", "attn.k_linear", "attn.out", "mlp.linear1",
// "mlp.linear2", "norm1" and "norm2". Split over tensor-parallel ranks like GPT-2's block.
class Layer : public nn::Module {
 public:
  explicit Layer(const Gpt3Options& options);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;

 private:
  void OnSplit(const TensorPlace& place) override;
  Variable Run(const Variable& x, const Variable& mask, const StepContext& ctx);

  nn::AttentionPlan plan_;
  std::shared_ptr<nn::Linear> query_, value_, key_, out_, wide_, narrow_;
  std::shared_ptr<nn::LayerNorm> attention_norm_, mlp_norm_;
};

// Classifies a text by its first position: "pooler_layer", tanh, "fc_layer".
class ClassificationHead : public nn::Module {
 public:
  explicit ClassificationHead(const Gpt3Options& options);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;

 private:
  std::shared_ptr<nn::Linear> pooler_, classes_;
};

// Logits of the next token at each position: "ln_f" and "lm_head", which is not tied. With
// head_in_loss, ForwardAll returns {normalised activation, weight}, which nn::NextTokenLoss
// multiplies. A split model returns the inputs of nn::SplitNextTokenLoss.
class LmHead : public nn::Module {
 public:
  explicit LmHead(const Gpt3Options& options);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;

 private:
  void OnSplit(const TensorPlace& place) override;

  bool in_loss_;
  int64_t vocabulary_;
  std::shared_ptr<nn::LayerNorm> norm_;
  std::shared_ptr<nn::Linear> words_;
};

}  // namespace torus::gpt3
