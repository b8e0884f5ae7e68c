// The cross entropy of a linear layer's classes, as it is asked of a device.
#pragma once

#include "ops/loss/class_targets.h"

namespace torus::ops {

// Contiguous: hidden (rows, width), weight (classes, width), bias (classes) or undefined.
struct LinearClassProblem {
  Tensor hidden, weight, bias;
  ClassTargets targets;  // (rows)
  bool mean;             // of the rows that count, else the sum
};

// For a loss gradient of 1; an undefined one is not computed.
struct LinearClassGradients {
  Tensor hidden, weight, bias;
  bool none() const { return !hidden.defined() && !weight.defined() && !bias.defined(); }
};

}  // namespace torus::ops
