#include "models/nn/embedding.h"

#include "ops/indexing/indexing.h"
#include "ops/tensor_parallel/vocabulary.h"
#include "runtime/error.h"

namespace torus::nn {

Embedding::Embedding(const EmbeddingOptions& o) : options_(o) {
  Require(o.count >= 1 && o.width >= 1, "embedding", "needs rows and a width, got {} x {}", o.count,
          o.width);
  Require(!o.padding_idx || (*o.padding_idx >= 0 && *o.padding_idx < o.count), "embedding",
          "padding_idx must be a row of {}, got {}", o.count, o.padding_idx.value_or(0));
  weight_ = AddParameter("weight", {o.count, o.width}, o.dtype,
                         o.init ? o.init : NormalRows(o.stddev, o.padding_idx),
                         o.split ? std::optional(TensorSplit{}) : std::nullopt);
}

Variable Embedding::Forward(const Variable& x, const StepContext& ctx) {
  RequireValues("embedding", x);
  if (options_.split && place().size > 1)
    return ops::EmbeddingOfPart(x, weight_, {PartOf(options_.count, place()).begin, options_.count},
                                options_.padding_idx, ctx.tensor_ranks);
  return ops::Embedding(x, weight_, options_.padding_idx);
}

}  // namespace torus::nn
