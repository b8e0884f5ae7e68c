// Cross entropy of a linear layer's classes on a CPU; ops/loss/kernels.h has the contracts.
#pragma once

#include "ops/loss/linear_class_problem.h"

namespace torus::cpu {

// Works through chunks of rows, and never holds the logits of more than one.
void LinearCrossEntropy(const ops::LinearClassProblem& problem, Tensor& loss,
                        ops::LinearClassGradients& gradients);
bool IsOne(const Tensor& factor);

}  // namespace torus::cpu
