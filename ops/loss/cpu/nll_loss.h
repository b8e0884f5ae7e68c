// Negative log likelihood on a CPU; ops/loss/kernels.h has the contracts.
#pragma once

#include "ops/loss/nll_targets.h"

namespace torus::cpu {

void NllLoss(const Tensor& x, const ops::NllTargets& targets, Tensor& loss, Tensor& scale);
void NllLossBackward(const ops::NllTargets& targets, const Tensor& dloss, Tensor& dx);

}  // namespace torus::cpu
