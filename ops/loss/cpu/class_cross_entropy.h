// Cross entropy of class numbers on a CPU; ops/loss/kernels.h has the contracts.
#pragma once

#include "ops/loss/class_targets.h"

namespace torus::cpu {

void CrossEntropy(const Tensor& x, const ops::ClassTargets& targets, Tensor& largest,
                  Tensor& log_sum, Tensor& loss);
void CrossEntropyBackward(const Tensor& x, const ops::ClassTargets& targets, const Tensor& largest,
                          const Tensor& log_sum, const Tensor& dloss, Tensor& dx);

}  // namespace torus::cpu
