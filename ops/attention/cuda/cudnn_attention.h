// Attention by cuDNN, in bf16 and f16; sums are f32. Each call says whether it took the case: where
// it did not, it wrote nothing. It leaves out masks, dropout, f32 and f64, matrices whose rows do
// not lie at multiples of 16 bytes, heads wider than 128, emulated GPUs, and what cuDNN has no plan
// for.
#pragma once

#include "ops/attention/problem.h"

namespace torus::cuda {

// Each row's statistic goes into out.largest whole, and 0 into out.log_sum.
bool CudnnAttention(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                    ops::AttentionOutputs& out, StreamHandle stream);
// Of whichever forward.
bool CudnnAttentionBackward(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                            const ops::AttentionOutputs& out, const Tensor& dout,
                            ops::AttentionGradients& gradients, StreamHandle stream);

}  // namespace torus::cuda
