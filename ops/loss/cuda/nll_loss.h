// Negative log likelihood on a GPU; ops/loss/kernels.h has the contracts.
#pragma once

#include "ops/loss/nll_targets.h"

namespace torus::cuda {

void NllLoss(const Tensor& x, const ops::NllTargets& targets, Tensor& loss, Tensor& scale,
             StreamHandle stream);
void NllLossBackward(const ops::NllTargets& targets, const Tensor& dloss, Tensor& dx,
                     StreamHandle stream);

}  // namespace torus::cuda
