// The head of a language model and its loss in one op, which never holds all logits: for a
// vocabulary of 50257 they are larger than all else of a step.
#pragma once

#include "autograd/variable.h"
#include "ops/loss/loss_reduction.h"

namespace torus::ops {

struct LinearCrossEntropyOptions {
  int64_t ignore_index = -100;
  LossReduction reduction = LossReduction::kMean;
};

// CrossEntropy(Linear(hidden, weight, bias), target): hidden (..., D), weight (V, D), bias (V) or
// undefined for none, target (...) of class numbers. f32 or f64. Rows are taken in chunks of about
// 2^25 logits, of which the gradient is written over the logits at once: the forward does the work
// of the backward too, without a product more, and keeps the gradients of hidden, weight and bias
// for a loss gradient of 1. BadInput tagged linear_cross_entropy for what does not fit, and for a
// loss that is not reduced.
Variable LinearCrossEntropy(const Variable& hidden, const Variable& weight, const Variable& bias,
                            const Variable& target, const LinearCrossEntropyOptions& options = {});

}  // namespace torus::ops
