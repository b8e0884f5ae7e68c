// Cross entropy of a linear layer's outputs on a CPU; ops/loss/kernels.h has the contracts.
#pragma once

#include "ops/loss/linear_class_problem.h"

namespace torus::cpu {

// Processes rows in chunks and holds the logits of one chunk at a time.
void LinearCrossEntropy(const ops::LinearClassProblem& problem, Tensor& loss,
                        ops::LinearClassGradients& gradients);
bool IsOne(const Tensor& factor);

}  // namespace torus::cpu
