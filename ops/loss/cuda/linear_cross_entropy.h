// Cross entropy of a linear layer's outputs on a GPU; ops/loss/kernels.h has the contracts.
#pragma once

#include "ops/loss/linear_class_problem.h"

namespace torus::cuda {

// Processes rows in chunks and holds the logits of one chunk at a time. Never waits for the stream:
// the number of targets that count stays on the GPU.
void LinearCrossEntropy(const ops::LinearClassProblem& problem, Tensor& loss,
                        ops::LinearClassGradients& gradients, StreamHandle stream);

}  // namespace torus::cuda
