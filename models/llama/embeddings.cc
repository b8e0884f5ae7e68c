#include "models/llama/embeddings.h"

#include "ops/tokens/tokens.h"
#include "runtime/error.h"

namespace torus {

LlamaEmbeddings::LlamaEmbeddings(const LlamaOptions& o) {
  tokens_ =
      AddChild("embed_tokens",
               std::make_shared<nn::Embedding>(nn::EmbeddingOptions{.count = o.vocab_size,
                                                                    .width = o.hidden_size,
                                                                    .padding_idx = o.pad_token_id,
                                                                    .stddev = o.initializer_range,
                                                                    .dtype = o.dtype,
                                                                    .split = true}));
}

Variable LlamaEmbeddings::Forward(const Variable& ids, const StepContext& ctx) {
  Require(ids.rank() == 2, "llama", "needs token ids (N, T), got {}", ids.shape());
  return tokens_->Forward(ids, ctx);
}

std::vector<Variable> LlamaEmbeddings::ForwardAll(const std::vector<Variable>& inputs,
                                                  const StepContext& ctx) {
  Require(inputs.size() == 1 || inputs.size() == 2, "llama",
          "takes token ids and the numbers of their documents, got {} inputs", inputs.size());
  if (inputs.size() == 1) return {Forward(inputs[0], ctx)};
  Require(inputs[1].shape() == inputs[0].shape(), "llama", "needs documents {}, got {}",
          inputs[0].shape(), inputs[1].shape());
  return {Forward(inputs[0], ctx), Variable(ops::CausalMask(inputs[1].data()))};
}

}  // namespace torus
