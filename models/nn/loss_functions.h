// Loss functions with their options, as the classes of torch.nn that have these names; the formulas
// are in ops/loss. A loss has no parameters and is no layer: it is called with an output and a
// target, or, by a trainer, with a model's outputs.
#pragma once

#include <functional>
#include <vector>

#include "autograd/variable.h"
#include "ops/loss/cross_entropy.h"
#include "ops/loss/mse_loss.h"

namespace torus::nn {

// A function of an output and a target, or of all outputs of a model and the targets.
class Loss {
 public:
  // The loss of an output.
  using Function = std::function<Variable(const Variable& input, const Variable& target)>;
  explicit Loss(Function function) : function_(std::move(function)) {}
  // The loss of an output `input`.
  Variable operator()(const Variable& input, const Variable& target) const {
    return function_(input, target);
  }
  // Of the first output, as a trainer calls it.
  Variable operator()(const std::vector<Variable>& outputs, const Tensor& targets) const {
    return function_(outputs.at(0), Variable(targets));
  }

 private:
  Function function_;
};

// As torch.nn.CrossEntropyLoss: ops::CrossEntropy.
class CrossEntropyLoss : public Loss {
 public:
  explicit CrossEntropyLoss(const ops::CrossEntropyOptions& options = {});
};

// As torch.nn.NLLLoss: ops::NllLoss.
class NllLoss : public Loss {
 public:
  explicit NllLoss(const ops::NllLossOptions& options = {});
};

// As torch.nn.MSELoss: ops::MseLoss.
class MseLoss : public Loss {
 public:
  explicit MseLoss(ops::LossReduction reduction = ops::LossReduction::kMean);
};

// As torch.nn.L1Loss: ops::L1Loss.
class L1Loss : public Loss {
 public:
  explicit L1Loss(ops::LossReduction reduction = ops::LossReduction::kMean);
};

// As torch.nn.HuberLoss: ops::HuberLoss, which throws BadInput unless delta is positive.
class HuberLoss : public Loss {
 public:
  explicit HuberLoss(ops::LossReduction reduction = ops::LossReduction::kMean, double delta = 1);
};

// As torch.nn.SmoothL1Loss: ops::SmoothL1Loss, which throws BadInput if beta is negative.
class SmoothL1Loss : public Loss {
 public:
  explicit SmoothL1Loss(ops::LossReduction reduction = ops::LossReduction::kMean, double beta = 1);
};

// As torch.nn.BCEWithLogitsLoss: ops::BinaryCrossEntropyWithLogits.
class BceWithLogitsLoss : public Loss {
 public:
  explicit BceWithLogitsLoss(const ops::BinaryCrossEntropyOptions& options = {});
};

}  // namespace torus::nn
