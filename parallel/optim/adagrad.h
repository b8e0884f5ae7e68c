// Adagrad (Duchi, Hazan and Singer 2011, section 1.1), as torch.optim.Adagrad; element_rules.h has
// the formulas.
#pragma once

#include <vector>

#include "parallel/optim/optimizer_groups.h"
#include "parallel/optim/rule_optimizer.h"

namespace torus::parallel {

// PyTorch's arguments and defaults. Members without a comment are those.
struct AdagradOptions {
  double lr_scale = 1;  // factor of the step's rate: PyTorch's lr of the group / the common lr
  double lr_decay = 0;  // step t of a parameter has its rate / (1 + (t - 1) lr_decay)
  double weight_decay = 0;
  double initial_accumulator_value = 0;
  double eps = 1e-10;
  bool maximize = false;
};
// Parameters that share options.
using AdagradGroup = OptimizerGroup<AdagradOptions>;

// Its state is PARAMETER.sum and PARAMETER.step.
class Adagrad : public OptimizerOfRule<AdagradScalars> {
 public:
  // Throws BadInput for a negative option.
  explicit Adagrad(const std::vector<AdagradGroup>& groups);
  // One group.
  Adagrad(std::vector<NamedVariable> parameters, const AdagradOptions& options)
      : Adagrad(std::vector<AdagradGroup>{{std::move(parameters), options}}) {}

 private:
  AdagradScalars ScalarsOf(size_t i, double learning_rate, double gradient_scale,
                           double step) override;
  void Run(std::vector<RuleItem>& items) override;
  std::vector<AdagradOptions> options_;  // of each parameter
};

}  // namespace torus::parallel
