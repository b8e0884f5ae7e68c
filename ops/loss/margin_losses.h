// Losses that ask for a margin, as torch.nn.functional.margin_ranking_loss, hinge_embedding_loss,
// cosine_embedding_loss and triplet_margin_loss; composed of other ops. f32 or f64. Shapes that are
// to be equal never broadcast; all throw BadInput otherwise. A target of 1 or -1 names a class: it
// has the others' dtype or an integer one, and gets no gradient where it only selects.
#pragma once

#include "autograd/variable.h"
#include "ops/loss/loss_reduction.h"

namespace torus::ops {

// max(0, margin - target (input1 - input2)): a target of 1 ranks input1 higher. All of one shape.
Variable MarginRankingLoss(const Variable& input1, const Variable& input2, const Variable& target,
                           double margin = 0, LossReduction reduction = LossReduction::kMean);

// The input, a distance, where the target is 1, and max(0, margin - input) where it is -1. Of one
// shape.
Variable HingeEmbeddingLoss(const Variable& input, const Variable& target, double margin = 1,
                            LossReduction reduction = LossReduction::kMean);

// 1 - cos(input1, input2) where the target is 1, and max(0, cos(input1, input2) - margin) where it
// is -1. Inputs (N, D) and target (N), or (D) and (). Squared lengths are 1e-12 longer, as in
// PyTorch, so that a zero vector has a cosine of 0.
Variable CosineEmbeddingLoss(const Variable& input1, const Variable& input2, const Variable& target,
                             double margin = 0, LossReduction reduction = LossReduction::kMean);

// PyTorch's arguments and defaults.
struct TripletMarginOptions {
  double margin = 1;  // positive
  double p = 2;       // of the norm, at least 0
  double eps = 1e-6;  // added to each difference
  bool swap = false;  // the negative is compared with the nearer of anchor and positive
  LossReduction reduction = LossReduction::kMean;  // of the losses of all elements
};

// max(0, |anchor - positive| - |anchor - negative| + margin) of vectors (..., D) of one shape
// (Balntas et al. 2016, "Learning local feature descriptors with triplets and shallow convolutional
// neural networks").
Variable TripletMarginLoss(const Variable& anchor, const Variable& positive,
                           const Variable& negative, const TripletMarginOptions& options = {});

}  // namespace torus::ops
