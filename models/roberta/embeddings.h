// The first layer of RoBERTa: word, position and token type embeddings, layer norm and dropout.
#pragma once

#include <memory>
#include <vector>

#include "models/nn/dropout.h"
#include "models/nn/embedding.h"
#include "models/nn/layer_norm.h"
#include "models/roberta/roberta.h"

namespace torus {

class RobertaEmbeddings : public nn::Module {
 public:
  RobertaEmbeddings(const RobertaOptions& options, uint64_t dropout_layer);
  Variable Forward(const Variable& ids, const StepContext& ctx) override;
  // Maps {ids, mask, token types}, the last two optional, to {activation, mask}.
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;
  const Variable& words() const { return words_->weight(); }

 private:
  Variable Embed(const Variable& ids, const Variable& types, const StepContext& ctx);

  int64_t padding_, positions_count_;
  std::shared_ptr<nn::Embedding> words_, positions_, types_;
  std::shared_ptr<nn::LayerNorm> norm_;
  nn::Dropout dropout_;
};

}  // namespace torus
