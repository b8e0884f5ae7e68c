// Attention by kernels of ours, in f32 and f64, of every case.
//
// In tiles that never hold the matrix of scores (FlashAttention-2, Dao 2023, algorithms 1 and 2):
// the backward computes them once more for each gradient. A block of threads owns what it sums, so
// all sums run in one order.
#pragma once

#include "ops/attention/problem.h"

namespace torus::cuda {

void TileAttention(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                   ops::AttentionOutputs& out, StreamHandle stream);
void TileAttentionBackward(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                           const ops::AttentionOutputs& out, const Tensor& dout,
                           ops::AttentionGradients& gradients, StreamHandle stream);

}  // namespace torus::cuda
