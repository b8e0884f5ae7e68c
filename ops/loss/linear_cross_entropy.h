// The head of a language model and its loss in one op that never holds all logits. With a
// vocabulary of 50257 the logits are larger than everything else in a step.
#pragma once

#include "autograd/variable.h"
#include "ops/loss/loss_reduction.h"

namespace torus::ops {

// As CrossEntropyOptions. Members without a comment are those.
struct LinearCrossEntropyOptions {
  int64_t ignore_index = -100;
  LossReduction reduction = LossReduction::kMean;
};

// Computes CrossEntropy(Linear(hidden, weight, bias), target): hidden (..., D), weight (V, D), bias
// (V) or undefined, target (...) of class numbers. f32 or f64. Processes rows in chunks of about
// 2^25 logits (on a GPU 2^27) and overwrites the logits of a chunk with their gradient. So the
// forward also does the work of the backward, with no additional product, and keeps the gradients
// of hidden, weight and bias for a loss gradient of 1. Throws BadInput tagged linear_cross_entropy
// for shapes or dtypes that do not fit, and for reduction kNone.
Variable LinearCrossEntropy(const Variable& hidden, const Variable& weight, const Variable& bias,
                            const Variable& target, const LinearCrossEntropyOptions& options = {});

}  // namespace torus::ops
