// Attention by our own kernels, for every case in f32 and f64.
//
// Runs in tiles that never hold the matrix of scores (FlashAttention-2, Dao 2023, algorithms 1 and
// 2). The backward recomputes the scores for each gradient. Each sum belongs to one block of
// threads, so all sums run in a fixed order.
#pragma once

#include "ops/attention/problem.h"

namespace torus::cuda {

void TileAttention(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                   ops::AttentionOutputs& out, StreamHandle stream);
void TileAttentionBackward(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                           const ops::AttentionOutputs& out, const Tensor& dout,
                           ops::AttentionGradients& gradients, StreamHandle stream);

}  // namespace torus::cuda
