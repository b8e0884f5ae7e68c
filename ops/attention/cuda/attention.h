// Attention on a GPU; ops/attention/kernels.h has the contracts. 16-bit cases that cuDNN supports
// use cuDNN (cudnn_attention.h), other 16-bit cases our own kernels for tensor cores
// (flash_attention.h); f32, f64 and heads wider than those take use tile_attention.h.
#pragma once

#include "ops/attention/problem.h"

namespace torus::cuda {

void Attention(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
               ops::AttentionOutputs& out, StreamHandle stream);
void AttentionBackward(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                       const ops::AttentionOutputs& out, const Tensor& dout,
                       ops::AttentionGradients& gradients, StreamHandle stream);
void DropoutFactors(const ops::KeyedDropout& dropout, Tensor& factors, StreamHandle stream);
void FindDeadRows(const Tensor& scores, Tensor& dead, StreamHandle stream);

}  // namespace torus::cuda
