// RoBERTa's heads, its last layer: a text classifier and a masked language model.
#pragma once

#include <memory>
#include <vector>

#include "models/nn/dropout.h"
#include "models/nn/layer_norm.h"
#include "models/nn/linear.h"
#include "models/roberta/roberta.h"

namespace torus {

// Classifies a text by its first token: dropout, "dense", tanh, dropout, "out_proj".
class RobertaClassificationHead : public nn::Module {
 public:
  // Uses the dropout layer numbers dropout_layer and dropout_layer + 1.
  RobertaClassificationHead(const RobertaOptions& options, uint64_t dropout_layer);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  // Drops the mask.
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;

 private:
  std::shared_ptr<nn::Linear> dense_, out_;
  nn::Dropout first_, second_;
};

// Logits of the word at each position: "dense", GELU, "layer_norm", the product with the tied word
// embeddings, and "bias". With head_in_loss, ForwardAll returns {activation, weight, bias}, which
// nn::MaskedTokenLoss multiplies. A split model returns the inputs of nn::SplitMaskedTokenLoss.
class RobertaLmHead : public nn::Module {
 public:
  // `words`: the word embeddings' weight, "roberta.embeddings.word_embeddings.weight".
  RobertaLmHead(const RobertaOptions& options, const Variable& words);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;

 private:
  void OnSplit(const TensorPlace& place) override;
  Variable Hidden(const Variable& x, const StepContext& ctx);

  bool in_loss_;
  int64_t vocabulary_;
  Variable bias_, words_;
  std::shared_ptr<nn::Linear> dense_;
  std::shared_ptr<nn::LayerNorm> norm_;
};

}  // namespace torus
