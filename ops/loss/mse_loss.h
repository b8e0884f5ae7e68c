// Losses between real numbers, as torch.nn.functional.mse_loss and
// binary_cross_entropy_with_logits; composed of other ops, so that targets may require a gradient.
#pragma once

#include "autograd/variable.h"
#include "ops/loss/loss_reduction.h"

namespace torus::ops {

// (input - target)^2; shapes broadcast. f32 or f64.
Variable MseLoss(const Variable& input, const Variable& target,
                 LossReduction reduction = LossReduction::kMean);

struct BinaryCrossEntropyOptions {
  Tensor weight;      // a factor for each element; broadcasts; undefined: 1
  Tensor pos_weight;  // a factor for the positive part of each class; broadcasts; undefined: 1
  LossReduction reduction = LossReduction::kMean;
};

// -weight (pos_weight target log sigmoid(input) + (1 - target) log sigmoid(-input)), without
// overflow. input and target of one shape, f32 or f64; throws BadInput otherwise.
Variable BinaryCrossEntropyWithLogits(const Variable& input, const Variable& target,
                                      const BinaryCrossEntropyOptions& options = {});

}  // namespace torus::ops
