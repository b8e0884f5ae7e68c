// Cross entropy of class numbers on a GPU; ops/loss/kernels.h has the contracts.
#pragma once

#include "ops/loss/class_targets.h"

namespace torus::cuda {

void CrossEntropy(const Tensor& x, const ops::ClassTargets& targets, Tensor& largest,
                  Tensor& log_sum, Tensor& loss, StreamHandle stream);
void CrossEntropyBackward(const Tensor& x, const ops::ClassTargets& targets, const Tensor& largest,
                          const Tensor& log_sum, const Tensor& dloss, Tensor& dx,
                          StreamHandle stream);

}  // namespace torus::cuda
