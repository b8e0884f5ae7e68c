// Cross entropy of a linear layer's classes on a GPU; ops/loss/kernels.h has the contracts.
#pragma once

#include "ops/loss/linear_class_problem.h"

namespace torus::cuda {

// Works through chunks of rows, and never holds the logits of more than one. Waits for nothing: the
// number of targets that count stays on the GPU.
void LinearCrossEntropy(const ops::LinearClassProblem& problem, Tensor& loss,
                        ops::LinearClassGradients& gradients, StreamHandle stream);

}  // namespace torus::cuda
