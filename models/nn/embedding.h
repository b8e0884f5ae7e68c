// Embedding: looks up a row of a table for each index.
#pragma once

#include <optional>

#include "models/nn/module.h"

namespace torus::nn {

// A table of `count` rows of `width` numbers. Members without a comment are as their names say;
// dtype is that of the parameters.
struct EmbeddingOptions {
  int64_t count = 0, width = 0;
  std::optional<int64_t> padding_idx = {};  // this row starts as zeros and gets no gradient
  double stddev = 1;                        // of the initial normal values
  Initializer init = {};                    // used instead if given
  DType dtype = DType::kF32;
  bool split = false;  // over tensor-parallel ranks, by rows
};

// Parameter: weight (count, width). Input: indices of any shape S; output: (S..., width).
class Embedding : public Module {
 public:
  explicit Embedding(const EmbeddingOptions& options);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  const Variable& weight() const { return weight_; }

 private:
  EmbeddingOptions options_;
  Variable weight_;
};

}  // namespace torus::nn
