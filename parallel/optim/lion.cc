#include "parallel/optim/lion.h"

#include "parallel/optim/rule_kernels.h"

namespace torus::parallel {

Lion::Lion(const std::vector<LionGroup>& groups)
    : OptimizerOfRule(
          "lion", ParametersOf(groups),
          ForEachOptions(groups,
                         [](const LionOptions&) { return std::vector<Kind>{{"exp_avg"}}; })),
      options_(OptionsOf(groups)) {
  for (const LionOptions& o : options_) {
    CheckAtLeast0(name(), "lr_scale", o.lr_scale);
    CheckAtLeast0(name(), "weight_decay", o.weight_decay);
    CheckBelow1(name(), "beta1", o.beta1);
    CheckBelow1(name(), "beta2", o.beta2);
  }
}

LionScalars Lion::ScalarsOf(size_t i, double learning_rate, double gradient_scale, double) {
  const LionOptions& o = options_[i];
  return {.learning_rate = learning_rate * o.lr_scale,
          .gradient_scale = o.maximize ? -gradient_scale : gradient_scale,
          .weight_decay = o.weight_decay,
          .beta1 = o.beta1,
          .beta2 = o.beta2};
}

void Lion::Run(std::vector<RuleItem>& items) { kernels::RuleStep(items, Prepared()); }

}  // namespace torus::parallel
