// Targets of the negative log likelihood, as it is asked of a device.
#pragma once

#include "ops/loss/class_targets.h"

namespace torus::ops {

// Row r puts the factor q(c) = w[c] ((1 - smoothing) [c == target[r]] + smoothing / classes) on its
// class c, and 0 on all if its target is ignored. Without `weight` (classes), w = 1.
struct NllTargets {
  ClassTargets classes;
  Tensor weight;
  double smoothing = 0;
};

}  // namespace torus::ops
