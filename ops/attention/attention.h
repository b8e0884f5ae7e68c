// Attention (Vaswani et al. 2017), as torch.nn.functional.scaled_dot_product_attention.
//
// f32 and bf16, and on a GPU also f64 and f16, run in tiles that never hold the (L, S) matrix of
// scores, forward and backward (FlashAttention-2, Dao 2023, algorithms 1 and 2). For the backward
// it keeps the result and two numbers per row.
#pragma once

#include <optional>

#include "autograd/variable.h"
#include "runtime/step_context.h"

namespace torus::ops {

// PyTorch's arguments, and what dropout needs besides.
struct AttentionOptions {
  // Bool (true: the key takes part) or of the query's dtype (added to the scores); broadcasts to
  // (..., L, S). Only an added mask may require a gradient; the whole matrix of scores is then in
  // memory.
  Variable attn_mask = {};
  // Row i attends to keys 0 to i. Not together with attn_mask.
  bool is_causal = false;
  std::optional<double> scale = {};  // of the scores; 1 / sqrt(E) unless given, or 1 where E is 0
  // Equal groups of query heads (dimension -3) share one head of key and value.
  bool enable_gqa = false;
  // Dropout of the weights, in training only. Needs `context`. Word (h L + row) ceil4(S) + key of
  // the stream (seed, step, layer, sample) decides weight (row, key) of head h of a sample, where
  // ceil4 rounds up to a multiple of 4. Heads are numbered from first_head, since other
  // tensor-parallel ranks may have the heads before it. The first batch dimension runs over
  // context->samples, or a multiple of them; if these are empty, over samples 0, 1, ....
  double dropout_p = 0;
  const StepContext* context = nullptr;  // of the step; needed for dropout alone
  uint64_t layer = 0;                    // the dropout's number
  int64_t first_head = 0;                // number of the first head here
};

// softmax(query key^T scale + mask) value. query (..., L, E), key (..., S, E), value (..., S, Ev),
// of one dtype, f32 or f64; the batch dimensions broadcast. Any strides; inputs whose rows have
// adjacent elements are not copied. The result is (..., L, Ev), stored as (..., L, heads, Ev), so
// that joining the heads needs no copy. A row that may attend to no key gives zeros and passes no
// gradient, as in PyTorch. The bits do not depend on the number of threads. Throws BadInput for
// shapes, dtypes or options that do not fit.
Variable ScaledDotProductAttention(const Variable& query, const Variable& key,
                                   const Variable& value, const AttentionOptions& options = {});

}  // namespace torus::ops
