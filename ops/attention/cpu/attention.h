// Attention on a CPU; ops/attention/kernels.h has the contracts.
//
// f32 runs in tiles that never hold the matrix of scores. f64 runs in plain loops, row by row.
#pragma once

#include "ops/attention/problem.h"

namespace torus::cpu {

void Attention(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
               ops::AttentionOutputs& out);
void AttentionBackward(const ops::AttentionProblem& problem, const ops::AttentionInputs& in,
                       const ops::AttentionOutputs& out, const Tensor& dout,
                       ops::AttentionGradients& gradients);
void DropoutFactors(const ops::KeyedDropout& dropout, Tensor& factors);
void FindDeadRows(const Tensor& scores, Tensor& dead);

}  // namespace torus::cpu
