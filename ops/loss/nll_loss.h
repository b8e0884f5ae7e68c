// Negative log likelihood of given classes, as torch.nn.functional.nll_loss.
#pragma once

#include "autograd/variable.h"
#include "ops/loss/loss_reduction.h"

namespace torus::ops {

// PyTorch's arguments and defaults.
struct NllLossOptions {
  Tensor weight = {};           // (C), of input's dtype: a factor for each class; undefined: all 1
  int64_t ignore_index = -100;  // targets with this value are ignored; need not be a class
  LossReduction reduction = LossReduction::kMean;  // of the losses of all elements
  // Share of the target's probability that is spread evenly over all C classes (Szegedy et al.
  // 2016). For CrossEntropy; PyTorch's nll_loss has no such option.
  double label_smoothing = 0;
};

// input: log probabilities (N, C), (C) or (N, C, d1, ...), f32 or f64. target: class numbers (N),
// () or (N, d1, ...), of any integer dtype. kNone gives losses of target's shape, kSum their sum,
// kMean their sum divided by the sum of the targets' weights (NaN if all are ignored). Throws
// BadInput tagged nll_loss for shapes that do not fit and for a target outside of [0, C).
Variable NllLoss(const Variable& input, const Variable& target, const NllLossOptions& options = {});

}  // namespace torus::ops
