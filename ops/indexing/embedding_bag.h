// Sums, means and maxima of rows of a table over bags of indices, as
// torch.nn.functional.embedding_bag.
#pragma once

#include <optional>
#include <string_view>

#include "autograd/variable.h"

namespace torus::ops {

// What a bag gives of its rows: their sum, mean or, element by element, maximum.
enum class BagMode { kSum, kMean, kMax };

// Parses PyTorch's names "sum", "mean" and "max". Throws BadInput for other names.
BagMode ParseBagMode(std::string_view name);

// The arguments of torch.nn.functional.embedding_bag.
struct EmbeddingBagOptions {
  std::optional<double> max_norm = {};  // these three as Embedding's
  double norm_type = 2;                 // of the norm that max_norm limits
  bool scale_grad_by_freq = false;      // not with kMax
  BagMode mode = BagMode::kMean;        // what a bag gives
  // Of input's shape and weight's dtype: a factor of each row; kSum.
  Variable per_sample_weights = {};
  bool include_last_offset = false;         // the last offset is where the last bag ends
  std::optional<int64_t> padding_idx = {};  // this index counts in no bag; negative from the end
};

// input: indices (B, L), B bags of L, without offsets; or (N), where offsets (B), i64 or i32, say
// where each bag begins: the first is 0, and none is below the one before. weight (count, width), a
// floating type. Result (B, width); an empty bag gives zeros. Of equal largest elements the first
// gets the gradient. Throws BadInput for shapes, options and values that do not fit; on a GPU it
// does not see offsets that descend.
Variable EmbeddingBag(const Variable& input, const Variable& weight, const Variable& offsets = {},
                      const EmbeddingBagOptions& options = {});

}  // namespace torus::ops
