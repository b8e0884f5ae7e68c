// Lion (Chen et al. 2023, "Symbolic discovery of optimization algorithms", algorithm 2): steps of
// equal size in every element. element_rules.h has the formulas.
#pragma once

#include <vector>

#include "parallel/optim/optimizer_groups.h"
#include "parallel/optim/rule_optimizer.h"

namespace torus::parallel {

// The paper's defaults. It advises rates a third to a tenth of AdamW's, and as much more decay.
// Members without a comment are the paper's, and maximize goes up the gradient.
struct LionOptions {
  double lr_scale = 1;  // factor of the step's rate
  double beta1 = 0.9, beta2 = 0.99;
  double weight_decay = 0;  // decoupled
  bool maximize = false;
};
// Parameters that share options.
using LionGroup = OptimizerGroup<LionOptions>;

// Its state is PARAMETER.exp_avg and PARAMETER.step.
class Lion : public OptimizerOfRule<LionScalars> {
 public:
  // Throws BadInput for a negative lr_scale or weight_decay, and for a beta outside [0, 1).
  explicit Lion(const std::vector<LionGroup>& groups);
  // One group.
  Lion(std::vector<NamedVariable> parameters, const LionOptions& options)
      : Lion(std::vector<LionGroup>{{std::move(parameters), options}}) {}

 private:
  LionScalars ScalarsOf(size_t i, double learning_rate, double gradient_scale,
                        double step) override;
  void Run(std::vector<RuleItem>& items) override;
  std::vector<LionOptions> options_;  // of each parameter
};

}  // namespace torus::parallel
