// Losses between real numbers, as torch.nn.functional.mse_loss, l1_loss, smooth_l1_loss, huber_loss
// and binary_cross_entropy_with_logits; composed of other ops, so that targets may require a
// gradient.
#pragma once

#include "autograd/variable.h"
#include "ops/loss/loss_reduction.h"

namespace torus::ops {

// input and target have one shape, f32 or f64; a weight has it too and is a factor of each loss.
// Throws BadInput for other shapes: nothing broadcasts.

// (input - target)^2. With a weight the mean divides by the sum of the weights.
Variable MseLoss(const Variable& input, const Variable& target,
                 LossReduction reduction = LossReduction::kMean, const Variable& weight = {});

// |input - target|; with a weight as MseLoss.
Variable L1Loss(const Variable& input, const Variable& target,
                LossReduction reduction = LossReduction::kMean, const Variable& weight = {});

// With d = |input - target|: d^2 / 2 up to delta, and delta (d - delta / 2) beyond. The mean of
// weighted losses is over their count. Throws BadInput unless delta is positive.
Variable HuberLoss(const Variable& input, const Variable& target,
                   LossReduction reduction = LossReduction::kMean, double delta = 1,
                   const Variable& weight = {});

// d^2 / (2 beta) below beta, and d - beta / 2 from it on, so L1Loss for a beta of 0. Throws
// BadInput if beta is negative.
Variable SmoothL1Loss(const Variable& input, const Variable& target,
                      LossReduction reduction = LossReduction::kMean, double beta = 1);

// PyTorch's arguments and defaults.
struct BinaryCrossEntropyOptions {
  Tensor weight = {};      // a factor for each element; broadcasts; undefined: 1
  Tensor pos_weight = {};  // a factor for the positive part of each class; broadcasts; undefined: 1
  LossReduction reduction = LossReduction::kMean;  // of the losses of all elements
};

// -weight (pos_weight target log sigmoid(input) + (1 - target) log sigmoid(-input)), without
// overflow. input and target of one shape, f32 or f64; throws BadInput otherwise.
Variable BinaryCrossEntropyWithLogits(const Variable& input, const Variable& target,
                                      const BinaryCrossEntropyOptions& options = {});

}  // namespace torus::ops
