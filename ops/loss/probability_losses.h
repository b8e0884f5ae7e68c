// Losses of probabilities and densities, as torch.nn.functional.kl_div, binary_cross_entropy and
// gaussian_nll_loss. f32 or f64. Shapes that are to be equal never broadcast; all throw BadInput
// otherwise.
#pragma once

#include "autograd/variable.h"
#include "ops/loss/loss_reduction.h"

namespace torus::ops {

// kBatchMean: the sum divided by input.dim(0), which is the divergence's own mean over a batch.
enum class KlReduction { kNone, kMean, kSum, kBatchMean };

// Parses PyTorch's names "none", "mean", "sum" and "batchmean". Throws BadInput for other names.
KlReduction ParseKlReduction(std::string_view name);

// Kullback and Leibler's divergence of the target from exp(input): target (log(target) - input),
// and 0 where the target is 0. With log_target the target too holds logarithms: exp(target) (target
// - input). input and target have one shape. The gradient of a target of 0 is NaN, as in PyTorch.
Variable KlDiv(const Variable& input, const Variable& target,
               KlReduction reduction = KlReduction::kMean, bool log_target = false);

// -weight (target log(input) + (1 - target) log(1 - input)), with logarithms of at least -100, as
// in PyTorch; NaN for an input outside of [0, 1]. input and target have one shape; weight, a
// constant, broadcasts to it. The gradient of input is weight (input - target) / max(input (1 -
// input), 1e-12).
Variable BinaryCrossEntropy(const Variable& input, const Variable& target,
                            const Tensor& weight = {},
                            LossReduction reduction = LossReduction::kMean);

// PyTorch's arguments and defaults.
struct GaussianNllOptions {
  bool full = false;  // adds log(2 pi) / 2
  double eps = 1e-6;  // the least variance; gradients are as if it did not limit
  LossReduction reduction = LossReduction::kMean;  // of the losses of all elements
};

// (log(var) + (input - target)^2 / var) / 2, with var at least eps (Nix and Weigend 1994,
// "Estimating the mean and variance of the target probability distribution"). input and target have
// one shape, and so has var; or its last dimension is 1, or missing.
Variable GaussianNllLoss(const Variable& input, const Variable& target, const Variable& var,
                         const GaussianNllOptions& options = {});

}  // namespace torus::ops
