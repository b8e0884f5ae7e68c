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

class Loss {
 public:
  using Function = std::function<Variable(const Variable& input, const Variable& target)>;
  explicit Loss(Function function) : function_(std::move(function)) {}
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

class CrossEntropyLoss : public Loss {
 public:
  explicit CrossEntropyLoss(const ops::CrossEntropyOptions& options = {});
};

class NllLoss : public Loss {
 public:
  explicit NllLoss(const ops::NllLossOptions& options = {});
};

class MseLoss : public Loss {
 public:
  explicit MseLoss(ops::LossReduction reduction = ops::LossReduction::kMean);
};

class L1Loss : public Loss {
 public:
  explicit L1Loss(ops::LossReduction reduction = ops::LossReduction::kMean);
};

class HuberLoss : public Loss {
 public:
  explicit HuberLoss(ops::LossReduction reduction = ops::LossReduction::kMean, double delta = 1);
};

class SmoothL1Loss : public Loss {
 public:
  explicit SmoothL1Loss(ops::LossReduction reduction = ops::LossReduction::kMean, double beta = 1);
};

class BceWithLogitsLoss : public Loss {
 public:
  explicit BceWithLogitsLoss(const ops::BinaryCrossEntropyOptions& options = {});
};

}  // namespace torus::nn
