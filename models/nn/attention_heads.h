// Multi-head attention (Vaswani et al. 2017, section 3.2.2) without its linear projections.
#pragma once

#include <cstdint>

#include "autograd/variable.h"
#include "models/nn/module.h"

namespace torus::nn {

// How attention divides into heads, and what they do.
struct AttentionPlan {
  int64_t heads = 1;           // of the query
  int64_t key_heads = 0;       // of key and value, each for as many heads of the query; 0: as many
  bool causal = false;         // whether token i attends to tokens 0 to i alone
  double scale = 0;            // of the scores; 0: 1 / sqrt(width of a head)
  double dropout = 0;          // probability for attention weights, in training
  uint64_t dropout_layer = 0;  // the number of that dropout (dropout.h)
  int64_t first_head = 0;      // the first head's number, if other ranks have those before it
};

// The plan of one tensor-parallel rank's heads. Throws BadInput tagged `where` unless the heads, of
// keys too, divide evenly among the ranks.
AttentionPlan PlanOf(const AttentionPlan& whole, const TensorPlace& place, const char* where);

// Computes softmax(q k^T scale) v in each head. q is (N, L, heads x E), k and v are
// (N, S, key heads x E), where E is the width of a head; with fewer heads of k and v, each serves
// equally many neighbouring heads of q (Ainslie et al. 2023, arXiv:2305.13245). `mask`, which
// broadcasts to (N, heads, L, S), is undefined, or bool, true where a query may attend to a key, or
// of q's dtype and added to the scores; not together with plan.causal. The result is
// (N, L, heads x E).
Variable MultiheadDotProductAttention(const Variable& q, const Variable& k, const Variable& v,
                                      const Variable& mask, const AttentionPlan& plan,
                                      const StepContext& ctx);

// Makes a mask (N, 1, 1, T) of (N, T), 1 for tokens and 0 for padding, of any dtype. Undefined
// stays undefined.
Variable PaddingMask(const Variable& attention_mask);

}  // namespace torus::nn
