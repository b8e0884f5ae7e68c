// Multi-head attention (Vaswani et al. 2017, section 3.2.2) without its linear projections.
#pragma once

#include <cstdint>

#include "autograd/variable.h"
#include "models/nn/module.h"

namespace torus::nn {

struct AttentionPlan {
  int64_t heads = 1;
  bool causal = false;
  double scale = 0;    // of the products of queries and keys; 0: 1 / sqrt(width of a head)
  double dropout = 0;  // probability, of the attention's weights, while training
  uint64_t dropout_layer = 0;
  int64_t first_head = 0;  // the number of the first, where other ranks have those before
};

// Of the heads that a tensor-parallel rank has. BadInput tagged `where` unless all have as many.
AttentionPlan PlanOf(const AttentionPlan& whole, const TensorPlace& place, const char* where);

// softmax(q k^T scale) v in each head. q, k, v (N, T, heads x width of a head); `mask` undefined,
// or a bool that broadcasts to (N, heads, T, T), true where a query may attend to a key; result as
// q.
Variable MultiHeadAttention(const Variable& q, const Variable& k, const Variable& v,
                            const Variable& mask, const AttentionPlan& plan,
                            const StepContext& ctx);

// (N, T) of 1 for tokens and 0 for padding, of any dtype, to a mask (N, 1, 1, T); undefined stays
// so.
Variable PaddingMask(const Variable& attention_mask);

}  // namespace torus::nn
