// Schedule-free AdamW (Defazio et al. 2024, "The road less scheduled", algorithm 1): the average of
// the steps takes the place of a falling learning rate. element_rules.h has the formulas.
#pragma once

#include <vector>

#include "parallel/optim/optimizer_groups.h"
#include "parallel/optim/rule_optimizer.h"

namespace torus::parallel {

// The authors' defaults; their r is 0 and their weight_lr_power 2. Members without a comment are
// the authors', and maximize goes up the gradient.
struct ScheduleFreeOptions {
  double lr_scale = 1;  // factor of the step's rate
  double beta1 = 0.9;   // the share of the average in the point at which gradients are taken
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;  // decoupled, of that point
  bool maximize = false;
};
// Parameters that share options.
using ScheduleFreeGroup = OptimizerGroup<ScheduleFreeOptions>;

// Two points belong to a parameter: y, where gradients are taken, and the average x, which is the
// model that was trained. While it trains the parameter holds y. Call Evaluate before the model is
// evaluated or saved for use, and Train before the next step, as its authors' optimizer.eval() and
// optimizer.train(); each rounds once. The rates given to Step are constant but for a warm-up; a
// step's weight in the average is the square of the largest rate so far.
//
// Its state is PARAMETER.z, PARAMETER.exp_avg_sq, and the scalars PARAMETER.step,
// PARAMETER.weight_sum (in units of the weight of the step taken last) and PARAMETER.lr_max. A
// checkpoint is taken while it trains.
class ScheduleFreeAdamW : public OptimizerOfRule<ScheduleFreeScalars> {
 public:
  // Throws BadInput for a negative lr_scale, eps or weight_decay, a beta1 outside of (0, 1) and a
  // beta2 outside of [0, 1).
  explicit ScheduleFreeAdamW(const std::vector<ScheduleFreeGroup>& groups);
  // One group.
  ScheduleFreeAdamW(std::vector<NamedVariable> parameters, const ScheduleFreeOptions& options)
      : ScheduleFreeAdamW(std::vector<ScheduleFreeGroup>{{std::move(parameters), options}}) {}

  // Sets the parameters to x; Train sets them to y again. Both do nothing where they hold it.
  void Evaluate();
  void Train();
  bool trains() const { return trains_; }  // whether the parameters hold y

  // Throws BadInput unless it trains.
  void Prepare(double learning_rate, double gradient_scale) override;
  std::vector<NamedTensor> State() const override;
  // The parameters must hold y.
  void LoadState(const std::vector<NamedTensor>& state) override;

 private:
  ScheduleFreeScalars ScalarsOf(size_t i, double learning_rate, double gradient_scale,
                                double step) override;
  void Run(std::vector<RuleItem>& items) override;
  // p += weight(options) (z - p) for every parameter that has taken a step.
  template <class F>
  void Move(const F& weight);

  std::vector<ScheduleFreeOptions> options_;  // of each parameter
  bool trains_ = true;
};

}  // namespace torus::parallel
