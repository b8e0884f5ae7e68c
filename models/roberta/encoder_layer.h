// A layer of RoBERTa's encoder (Vaswani et al. 2017, section 3.1): attention and a two-layer MLP,
// each followed by dropout, the residual sum and layer norm.
#pragma once

#include <memory>
#include <vector>

#include "models/nn/activation.h"
#include "models/nn/attention_heads.h"
#include "models/nn/dropout.h"
#include "models/nn/layer_norm.h"
#include "models/nn/linear.h"
#include "models/roberta/roberta.h"

namespace torus {

// Children "attention.self.query", "attention.self.key", "attention.self.value",
// "attention.output.dense", "attention.output.LayerNorm", "intermediate.dense", "output.dense" and
// "output.LayerNorm". Split over tensor-parallel ranks like GPT-2's block.
class RobertaLayer : public nn::Module {
 public:
  // Which tokens the output has: all, (N, T, width), or only the first, (N, 1, width), which is all
  // that a classifier reads of the last layer. Either way it attends to all tokens.
  enum class Output { kAll, kFirstToken };

  // Uses the dropout layer numbers dropout_layer to dropout_layer + 2.
  RobertaLayer(const RobertaOptions& options, uint64_t dropout_layer, Output output = Output::kAll);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  // Takes and returns {activation} or {activation, mask}.
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;

  static constexpr uint64_t kDropoutLayers = 3;

 private:
  void OnSplit(const TensorPlace& place) override;
  Variable Run(const Variable& x, const Variable& mask, const StepContext& ctx);
  Variable Own(const Variable& x) const;
  std::vector<Variable> Project(const Variable& asks, const Variable& read, const StepContext& ctx);

  Output kind_;
  nn::AttentionPlan plan_;
  nn::ActivationFn activation_;
  std::shared_ptr<nn::Linear> query_, key_, value_, attended_, intermediate_, output_;
  std::shared_ptr<nn::LayerNorm> attention_norm_, output_norm_;
  nn::Dropout attention_dropout_, output_dropout_;
};

}  // namespace torus
