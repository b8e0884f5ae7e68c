#include "models/gpt2/embeddings.h"

#include "ops/elementwise/elementwise.h"
#include "ops/tokens/tokens.h"
#include "runtime/error.h"

namespace torus {
Gpt2Embeddings::Gpt2Embeddings(const Gpt2Options& o, uint64_t dropout_layer)
    : positions_count_(o.n_positions), dropout_(o.embd_pdrop, dropout_layer) {
  auto add = [&](const char* name, int64_t count, bool split) {
    return AddChild(
        name, std::make_shared<nn::Embedding>(nn::EmbeddingOptions{.count = count,
                                                                   .width = o.n_embd,
                                                                   .stddev = o.initializer_range,
                                                                   .dtype = o.dtype,
                                                                   .split = split}));
  };
  tokens_ = add("wte", o.vocab_size, true);
  positions_ = add("wpe", o.n_positions, false);
}

Variable Gpt2Embeddings::Run(const Variable& ids, int64_t first, const Variable& documents,
                             const StepContext& ctx) {
  Require(ids.rank() == 2 && first + ids.dim(1) <= positions_count_, "gpt2",
          "needs token ids (N, T) that end within {} positions, got {} from position {}",
          positions_count_, ids.shape(), first);
  const Tensor all = Arange(first + ids.dim(1), DType::kI64, ids.data().device());
  const Variable positions(documents.defined() ? ops::PositionsInDocuments(documents.data())
                                               : all.Narrow(0, first, ids.dim(1)));
  const Variable x = ops::Add(tokens_->Forward(ids, ctx), positions_->Forward(positions, ctx));
  return dropout_.Forward(x, ctx);
}

Variable Gpt2Embeddings::Forward(const Variable& ids, const StepContext& ctx) {
  return Run(ids, 0, {}, ctx);
}

Variable Gpt2Embeddings::Extend(const Variable& ids, int64_t first) {
  return Run(ids, first, {}, {.training = false});
}

std::vector<Variable> Gpt2Embeddings::ForwardAll(const std::vector<Variable>& inputs,
                                                 const StepContext& ctx) {
  Require(inputs.size() == 1 || inputs.size() == 2, "gpt2",
          "takes token ids and the numbers of their documents, got {} inputs", inputs.size());
  if (inputs.size() == 1) return {Forward(inputs[0], ctx)};
  Require(inputs[1].shape() == inputs[0].shape(), "gpt2", "needs documents {}, got {}",
          inputs[0].shape(), inputs[1].shape());
  return {Run(inputs[0], 0, inputs[1], ctx), Variable(ops::CausalMask(inputs[1].data()))};
}

}  // namespace torus
