// RMSprop (Hinton, Srivastava and Swersky 2012, lecture 6e; centered: Graves 2013, equations 38 to
// 45), as torch.optim.RMSprop; element_rules.h has the formulas.
#pragma once

#include <vector>

#include "parallel/optim/optimizer_groups.h"
#include "parallel/optim/rule_optimizer.h"

namespace torus::parallel {

// PyTorch's arguments and defaults. Members without a comment are those.
struct RmspropOptions {
  double lr_scale = 1;  // factor of the step's rate: PyTorch's lr of the group / the common lr
  double alpha = 0.99;
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum = 0;
  bool centered = false;  // divide by the deviation, not by the root of the mean square
  bool maximize = false;
};
// Parameters that share options.
using RmspropGroup = OptimizerGroup<RmspropOptions>;

// Its state is PARAMETER.square_avg, with momentum PARAMETER.momentum_buffer, if centered
// PARAMETER.grad_avg, and PARAMETER.step.
class Rmsprop : public OptimizerOfRule<RmspropScalars> {
 public:
  // Throws BadInput for a negative option, and for an alpha above 1.
  explicit Rmsprop(const std::vector<RmspropGroup>& groups);
  // One group.
  Rmsprop(std::vector<NamedVariable> parameters, const RmspropOptions& options)
      : Rmsprop(std::vector<RmspropGroup>{{std::move(parameters), options}}) {}

 private:
  RmspropScalars ScalarsOf(size_t i, double learning_rate, double gradient_scale,
                           double step) override;
  void Run(std::vector<RuleItem>& items) override;
  std::vector<RmspropOptions> options_;  // of each parameter
};

}  // namespace torus::parallel
