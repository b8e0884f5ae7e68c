// Connectionist temporal classification (Graves, Fernandez, Gomez and Schmidhuber 2006), as
// torch.nn.functional.ctc_loss.
#pragma once

#include "autograd/variable.h"
#include "ops/loss/loss_reduction.h"

namespace torus::ops {

// PyTorch's arguments and defaults.
struct CtcLossOptions {
  int64_t blank = 0;  // the blank's class
  // kMean divides each loss by the length of its target, at least 1, and takes their mean.
  LossReduction reduction = LossReduction::kMean;
  bool zero_infinity = false;  // an infinite loss, of a target that cannot fit, counts as 0
};

// -log p(target | input) of each sequence: over all ways to spread the labels of the target over
// the frames of the input, with blanks between and equal neighbours merged.
//
// log_probs: (T, N, C), or (T, C) of one sequence; f32 or f64; logarithms of probabilities, as
// LogSoftmax gives them. targets: (N, S), of which each row's first labels count, or all labels one
// after another in one dimension (for one sequence (S)); input_lengths and target_lengths: (N), for
// one sequence also (); all integers. As in PyTorch the gradient of log_probs is that of logits
// before a log-softmax, which is what a log-softmax passes on unchanged: exp(log_probs) minus the
// posterior of each label (equation 16). Sums are in log space.
//
// Lengths and labels are read and checked on the CPU, so those on a GPU are waited for. Throws
// BadInput for shapes and dtypes that do not fit, a length outside of its dimension, and a label or
// a blank that is none of the classes.
Variable CtcLoss(const Variable& log_probs, const Tensor& targets, const Tensor& input_lengths,
                 const Tensor& target_lengths, const CtcLossOptions& options = {});

}  // namespace torus::ops
