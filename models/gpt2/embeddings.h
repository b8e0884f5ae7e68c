// The first layer of GPT-2: token and position embeddings, and dropout.
#pragma once

#include <memory>
#include <vector>

#include "models/gpt2/gpt2.h"
#include "models/nn/dropout.h"
#include "models/nn/embedding.h"
#include "models/nn/text_decoder.h"

namespace torus {

// Children "wte" and "wpe".
class Gpt2Embeddings : public nn::Module, public nn::PositionedLayer {
 public:
  Gpt2Embeddings(const Gpt2Options& options, uint64_t dropout_layer);
  Variable Forward(const Variable& ids, const StepContext& ctx) override;
  // Maps {ids} to {activation}, or {ids, documents (N, T)} to {activation, mask (N, 1, T, T)}.
  // Element (n, 0, i, j) of the mask says whether token i may attend to token j. Positions are
  // those within a document.
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;
  Variable Extend(const Variable& ids, int64_t first) override;
  const Variable& tokens() const { return tokens_->weight(); }

 private:
  // `documents`: undefined in rows of one text, which begins at the position `first`.
  Variable Run(const Variable& ids, int64_t first, const Variable& documents,
               const StepContext& ctx);

  int64_t positions_count_;
  std::shared_ptr<nn::Embedding> tokens_, positions_;
  nn::Dropout dropout_;
};

}  // namespace torus
