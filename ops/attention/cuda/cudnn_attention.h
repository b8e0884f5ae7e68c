// Attention by cuDNN, in bf16 and f16; sums are f32. Each function returns whether it ran; if not,
// what it may have written of its results is to be written again. Not supported: masks, dropout,
// f32 and f64, matrices whose rows do not start at multiples of 16 bytes, heads wider than 128,
// emulated GPUs, and cases for which cuDNN has no plan.
#pragma once

#include "ops/attention/problem.h"

namespace torus::cuda {

// Writes each row's log of the sum of exponentials to out.largest, and 0 to out.log_sum.
bool CudnnAttention(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                    ops::AttentionOutputs& out, StreamHandle stream);
// Works with the outputs of either forward. A batch that is too large for the workspace is split.
bool CudnnAttentionBackward(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                            const ops::AttentionOutputs& out, const Tensor& dout,
                            ops::AttentionGradients& gradients, StreamHandle stream);

}  // namespace torus::cuda
