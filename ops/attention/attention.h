// Attention (Vaswani et al. 2017), as torch.nn.functional.scaled_dot_product_attention.
//
// f32, and on a GPU f64 too, runs in tiles that never hold the (L, S) matrix of scores, forward and
// backward (FlashAttention-2, Dao 2023, algorithms 1 and 2): beside its result it keeps two numbers
// for each row.
#pragma once

#include <optional>

#include "autograd/variable.h"
#include "runtime/step_context.h"

namespace torus::ops {

struct AttentionOptions {
  // Bool (true: the key takes part) or of the query's dtype (added to the scores); broadcasts to
  // (..., L, S). Only an added one may require a gradient, and then the matrix of scores is held.
  Variable attn_mask;
  // Row i sees the keys up to i, counted from the first; not together with attn_mask.
  bool is_causal = false;
  std::optional<double> scale;  // of the scores; 1 / sqrt(E) unless given, or 1 where E is 0
  // Query heads (dimension -3) in equal groups share the heads of key and value.
  bool enable_gqa = false;
  // Dropout of the weights, in training only. Needs `context`; weight (row, key) of head h of a
  // sample is decided by word (h L + row) ceil4(S) + key of the stream (seed, step, layer, sample).
  // Heads are numbered from first_head, where tensor-parallel ranks have those before.
  // The first dimension of the batch goes over context->samples, or a multiple of them.
  double dropout_p = 0;
  const StepContext* context = nullptr;
  uint64_t layer = 0;
  int64_t first_head = 0;
};

// softmax(query key^T scale + mask) value. query (..., L, E), key (..., S, E), value (..., S, Ev),
// of one dtype, f32 or f64; the batch dimensions broadcast. Any strides; rows with adjacent
// elements are read where they lie. The result is (..., L, Ev), in memory (..., L, heads, Ev), so
// that joining the heads costs no copy. A row that may see no key gives zeros and passes no
// gradient, as in PyTorch. The bits do not depend on the number of threads. BadInput for what does
// not fit.
Variable ScaledDotProductAttention(const Variable& query, const Variable& key,
                                   const Variable& value, const AttentionOptions& options = {});

}  // namespace torus::ops
