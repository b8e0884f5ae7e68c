// The cross entropy of a linear layer's classes, as it is asked of a device.
#pragma once

#include "ops/loss/class_targets.h"

namespace torus::ops {

// Contiguous: hidden (rows, width), weight (classes, width), bias (classes) or undefined; f32 or
// f64, all of one dtype. Hidden and weight may be bf16 where the device has products of that: bias,
// loss and gradients are f32 then, and the gradient of the logits is rounded for its products.
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
