// Attention in bf16 and f16 by tensor cores, in tiles that never hold the matrix of scores
// (FlashAttention-2, Dao 2023, algorithms 1 and 2): any mask, dropout, grouped heads, strides and
// sizes up to 128 columns. Products are summed in f32; weights, and gradients of scores, are
// rounded to the type of the elements before they are multiplied.
//
// The backward recomputes scores from `largest` and `log_sum`. One kernel, by keys, sums the
// gradients of keys and values; another, by rows, recomputes once more for those of the queries.
// Nothing is added atomically, so all sums run in a fixed order.
#pragma once

#include "ops/attention/problem.h"

namespace torus::cuda {

// Whether the functions below compute it.
bool FlashTakes(const ops::AttentionProblem& problem, DType dtype);

void FlashAttention(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                    ops::AttentionOutputs& out, StreamHandle stream);
void FlashAttentionBackward(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                            const ops::AttentionOutputs& out, const Tensor& dout,
                            ops::AttentionGradients& gradients, StreamHandle stream);

}  // namespace torus::cuda
