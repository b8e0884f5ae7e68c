// The first layer of Llama: token embeddings.
#pragma once

#include <memory>
#include <vector>

#include "models/llama/llama.h"
#include "models/nn/embedding.h"

namespace torus {

// Child "embed_tokens".
class LlamaEmbeddings : public nn::Module {
 public:
  explicit LlamaEmbeddings(const LlamaOptions& options);
  Variable Forward(const Variable& ids, const StepContext& ctx) override;
  // Maps {ids} to {activation}, or {ids, documents (N, T)} to {activation, mask (N, 1, T, T)}.
  // Element (n, 0, i, j) of the mask says whether token i may attend to token j.
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;
  const Variable& tokens() const { return tokens_->weight(); }

 private:
  std::shared_ptr<nn::Embedding> tokens_;
};

}  // namespace torus
