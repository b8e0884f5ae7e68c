#include "parallel/optim/rmsprop.h"

#include "parallel/optim/rule_kernels.h"
#include "runtime/error.h"

namespace torus::parallel {

Rmsprop::Rmsprop(const std::vector<RmspropGroup>& groups)
    : OptimizerOfRule("rmsprop", ParametersOf(groups),
                      ForEachOptions(groups,
                                     [](const RmspropOptions& o) {
                                       return std::vector<Kind>{
                                           {"square_avg"},
                                           {o.momentum > 0 ? "momentum_buffer" : nullptr},
                                           {o.centered ? "grad_avg" : nullptr}};
                                     })),
      options_(OptionsOf(groups)) {
  for (const RmspropOptions& o : options_) {
    CheckAtLeast0(name(), "lr_scale", o.lr_scale);
    CheckAtLeast0(name(), "alpha", o.alpha);
    CheckAtLeast0(name(), "eps", o.eps);
    CheckAtLeast0(name(), "weight_decay", o.weight_decay);
    CheckAtLeast0(name(), "momentum", o.momentum);
    Require(o.alpha <= 1, name(), "alpha must be at most 1, got {}", o.alpha);
  }
}

RmspropScalars Rmsprop::ScalarsOf(size_t i, double learning_rate, double gradient_scale, double) {
  const RmspropOptions& o = options_[i];
  return {.learning_rate = learning_rate * o.lr_scale,
          .gradient_scale = o.maximize ? -gradient_scale : gradient_scale,
          .weight_decay = o.weight_decay,
          .eps = o.eps,
          .alpha = o.alpha,
          .momentum = o.momentum};
}

void Rmsprop::Run(std::vector<RuleItem>& items) { kernels::RuleStep(items, Prepared()); }

}  // namespace torus::parallel
