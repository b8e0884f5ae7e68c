#include "parallel/optim/adagrad.h"

#include "parallel/optim/rule_kernels.h"

namespace torus::parallel {

Adagrad::Adagrad(const std::vector<AdagradGroup>& groups)
    : OptimizerOfRule(
          "adagrad", ParametersOf(groups),
          ForEachOptions(groups,
                         [](const AdagradOptions& o) {
                           return std::vector<Kind>{{"sum", o.initial_accumulator_value}};
                         })),
      options_(OptionsOf(groups)) {
  for (const AdagradOptions& o : options_) {
    CheckAtLeast0(name(), "lr_scale", o.lr_scale);
    CheckAtLeast0(name(), "lr_decay", o.lr_decay);
    CheckAtLeast0(name(), "weight_decay", o.weight_decay);
    CheckAtLeast0(name(), "initial_accumulator_value", o.initial_accumulator_value);
    CheckAtLeast0(name(), "eps", o.eps);
  }
}

AdagradScalars Adagrad::ScalarsOf(size_t i, double learning_rate, double gradient_scale,
                                  double step) {
  const AdagradOptions& o = options_[i];
  return {.learning_rate = learning_rate * o.lr_scale / (1 + (step - 1) * o.lr_decay),
          .gradient_scale = o.maximize ? -gradient_scale : gradient_scale,
          .weight_decay = o.weight_decay,
          .eps = o.eps};
}

void Adagrad::Run(std::vector<RuleItem>& items) { kernels::RuleStep(items, Prepared()); }

}  // namespace torus::parallel
