#include "models/nn/embedding_bag.h"

#include "runtime/error.h"

namespace torus::nn {

EmbeddingBag::EmbeddingBag(const EmbeddingBagLayerOptions& o) : options_(o) {
  Require(o.num_embeddings >= 1 && o.embedding_dim >= 1, "embedding_bag",
          "needs rows and a width, got {} x {}", o.num_embeddings, o.embedding_dim);
  std::optional<int64_t> zero = o.padding_idx;
  if (zero && *zero < 0) *zero += o.num_embeddings;
  Require(!zero || (*zero >= 0 && *zero < o.num_embeddings), "embedding_bag",
          "padding_idx must be a row of {}, got {}", o.num_embeddings, o.padding_idx.value_or(0));
  weight_ =
      AddParameter("weight", {o.num_embeddings, o.embedding_dim}, o.dtype, NormalRows(1, zero));
}

Variable EmbeddingBag::Forward(const Variable& x, const StepContext& ctx) {
  return ForwardAll({x}, ctx)[0];
}

std::vector<Variable> EmbeddingBag::ForwardAll(const std::vector<Variable>& inputs,
                                               const StepContext&) {
  Require(!inputs.empty() && inputs.size() <= 3, "embedding_bag",
          "takes indices, offsets and per_sample_weights, got {} inputs", inputs.size());
  RequireValues("embedding_bag", inputs[0]);
  const ops::EmbeddingBagOptions options{
      .max_norm = options_.max_norm,
      .norm_type = options_.norm_type,
      .scale_grad_by_freq = options_.scale_grad_by_freq,
      .mode = options_.mode,
      .per_sample_weights = inputs.size() > 2 ? inputs[2] : Variable(),
      .include_last_offset = options_.include_last_offset,
      .padding_idx = options_.padding_idx};
  return {
      ops::EmbeddingBag(inputs[0], weight_, inputs.size() > 1 ? inputs[1] : Variable(), options)};
}

}  // namespace torus::nn
