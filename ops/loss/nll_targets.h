// Targets of the kernels of the negative log likelihood.
#pragma once

#include "ops/loss/class_targets.h"

namespace torus::ops {

// In row r, class c has the factor q(c) = w[c] ((1 - smoothing) [c == target[r]] + smoothing /
// classes), or 0 if the target is ignored. w is `weight` (classes), or 1 if that is undefined.
struct NllTargets {
  ClassTargets classes;
  Tensor weight;
  double smoothing = 0;
};

}  // namespace torus::ops
