// Cross entropy of logits, as torch.nn.functional.cross_entropy.
#pragma once

#include "ops/loss/nll_loss.h"

namespace torus::ops {

// The same options; label_smoothing has an effect here.
using CrossEntropyOptions = NllLossOptions;

// input: logits (N, C), (C) or (N, C, d1, ...), f32 or f64; the softmax goes over the classes.
// target: class numbers as in NllLoss, or probabilities with input's shape and dtype, which may
// require a gradient. With probabilities, ignore_index has no effect and kMean divides by the
// number of samples, N d1 ... Throws BadInput for a label_smoothing outside of [0, 1], and as
// NllLoss does.
Variable CrossEntropy(const Variable& input, const Variable& target,
                      const CrossEntropyOptions& options = {});

}  // namespace torus::ops
