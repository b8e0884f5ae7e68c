// EmbeddingBag: sums, means or maxima of rows of a table over bags of indices.
#pragma once

#include "models/nn/module.h"
#include "ops/indexing/embedding_bag.h"

namespace torus::nn {

// Defaults are torch.nn.EmbeddingBag's. Members without a comment are its arguments; dtype is that
// of the parameters.
struct EmbeddingBagLayerOptions {
  int64_t num_embeddings = 0, embedding_dim = 0;
  std::optional<double> max_norm = {};
  double norm_type = 2;
  bool scale_grad_by_freq = false;
  ops::BagMode mode = ops::BagMode::kMean;
  bool include_last_offset = false;
  std::optional<int64_t> padding_idx = {};  // this row starts as zeros
  DType dtype = DType::kF32;
};

// Parameter: weight (num_embeddings, embedding_dim), standard normal. ops/indexing/embedding_bag.h
// says what inputs mean.
class EmbeddingBag : public Module {
 public:
  explicit EmbeddingBag(const EmbeddingBagLayerOptions& options);
  // Indices (B, L): a bag in each row.
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  // {indices}, {indices, offsets} or {indices, offsets, per_sample_weights}; offsets may be
  // undefined. Returns the bags alone.
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;

 private:
  EmbeddingBagLayerOptions options_;
  Variable weight_;
};

}  // namespace torus::nn
