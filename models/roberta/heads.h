// RoBERTa's heads, its last layer: for classes of a text, or for masked words.
#pragma once

#include <memory>
#include <vector>

#include "models/nn/dropout.h"
#include "models/nn/layer_norm.h"
#include "models/nn/linear.h"
#include "models/roberta/roberta.h"

namespace torus {

// The class of a text from its first token: dropout, "dense", tanh, dropout, "out_proj".
class RobertaClassificationHead : public nn::Module {
 public:
  // Uses the numbers dropout_layer and dropout_layer + 1.
  RobertaClassificationHead(const RobertaOptions& options, uint64_t dropout_layer);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  // The mask is dropped.
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;

 private:
  std::shared_ptr<nn::Linear> dense_, out_;
  nn::Dropout first_, second_;
};

// Logits of the word at each position: "dense", GELU, "layer_norm", the product with the word
// embeddings, which are tied, and "bias". With head_in_loss, ForwardAll gives {activation, weight,
// bias}, which nn::MaskedTokenLoss multiplies; of a split model what
// nn::SplitMaskedTokenLoss takes.
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
