#include "parallel/optim/schedule_free.h"

#include <algorithm>

#include "parallel/optim/rule_kernels.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

enum Counter { kWeightSum, kLargestRate };

}  // namespace

ScheduleFreeAdamW::ScheduleFreeAdamW(const std::vector<ScheduleFreeGroup>& groups)
    : OptimizerOfRule("schedule_free", ParametersOf(groups),
                      ForEachOptions(groups,
                                     [](const ScheduleFreeOptions&) {
                                       return std::vector<Kind>{{.name = "z", .of_parameter = true},
                                                                {.name = "exp_avg_sq"}};
                                     }),
                      {"weight_sum", "lr_max"}),
      options_(OptionsOf(groups)) {
  for (const ScheduleFreeOptions& o : options_) {
    CheckAtLeast0(name(), "lr_scale", o.lr_scale);
    CheckAtLeast0(name(), "eps", o.eps);
    CheckAtLeast0(name(), "weight_decay", o.weight_decay);
    CheckBelow1(name(), "beta1", o.beta1);
    CheckBelow1(name(), "beta2", o.beta2);
    Require(o.beta1 > 0, name(), "beta1 must be above 0, got {}", o.beta1);
  }
}

template <class F>
void ScheduleFreeAdamW::Move(const F& weight) {
  auto scalars = std::make_shared<std::vector<MoveScalars>>();
  const std::vector<size_t> begun = Begun();
  for (const size_t i : begun) scalars->push_back({weight(options_[i])});
  std::vector<RuleItem> items = Items(begun);
  if (!items.empty())
    kernels::RuleStep(items, std::shared_ptr<const std::vector<MoveScalars>>(scalars));
}

void ScheduleFreeAdamW::Evaluate() {
  if (!trains_) return;
  Move([](const ScheduleFreeOptions& o) { return 1 - 1 / o.beta1; });
  trains_ = false;
}

void ScheduleFreeAdamW::Train() {
  if (trains_) return;
  Move([](const ScheduleFreeOptions& o) { return 1 - o.beta1; });
  trains_ = true;
}

void ScheduleFreeAdamW::Prepare(double learning_rate, double gradient_scale) {
  Require(trains_, name(), "a step needs Train() after Evaluate()");
  RuleOptimizer::Prepare(learning_rate, gradient_scale);
}

std::vector<NamedTensor> ScheduleFreeAdamW::State() const {
  Require(trains_, name(), "its state is taken while it trains: call Train() first");
  return RuleOptimizer::State();
}

void ScheduleFreeAdamW::LoadState(const std::vector<NamedTensor>& state) {
  RuleOptimizer::LoadState(state);
  trains_ = true;
}

// The weights' sum is kept in units of the last weight, so that equal weights are counted exactly:
// up to 2^24, from where on the sum, an f32, and the share stay as they are.
ScheduleFreeScalars ScheduleFreeAdamW::ScalarsOf(size_t i, double learning_rate,
                                                 double gradient_scale, double step) {
  const ScheduleFreeOptions& o = options_[i];
  const double rate = learning_rate * o.lr_scale;
  const double before = Counter(i, kLargestRate), largest = std::max(rate, before);
  const double shrunk = largest > 0 ? before / largest : 0;
  const double sum = shrunk * shrunk * static_cast<double>(Counter(i, kWeightSum)) + 1;
  Counter(i, kWeightSum) = static_cast<float>(largest > 0 ? sum : 0);
  Counter(i, kLargestRate) = static_cast<float>(largest);
  return {.learning_rate = rate,
          .gradient_scale = o.maximize ? -gradient_scale : gradient_scale,
          .weight_decay = o.weight_decay,
          .eps = o.eps,
          .beta1 = o.beta1,
          .beta2 = o.beta2,
          .step = step,
          .share = largest > 0 ? 1 / sum : 0};
}

void ScheduleFreeAdamW::Run(std::vector<RuleItem>& items) { kernels::RuleStep(items, Prepared()); }

}  // namespace torus::parallel
