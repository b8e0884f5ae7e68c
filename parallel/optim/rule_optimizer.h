// RuleOptimizer: the base of optimizers whose update is a rule of element_rules.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "parallel/optim/element_rules.h"
#include "parallel/optim/optimizer.h"
#include "parallel/optim/optimizer_state.h"

namespace torus::parallel {

struct RuleItem;  // rule_kernels.h

// Keeps the states of each parameter and the number of steps that it has taken, runs the two halves
// of a step, and renews kept copies of parameters (autograd/low_copy.h).
class RuleOptimizer : public Optimizer {
 public:
  // Throws BadInput for a negative learning rate.
  void Step(double learning_rate, double gradient_scale = 1) override;
  bool splits() const override { return true; }
  void Prepare(double learning_rate, double gradient_scale) override;
  void Update() override;
  // PARAMETER.KIND of each state, of the parameter's shape and dtype; and PARAMETER.step, an f32
  // scalar: the steps it has taken.
  std::vector<NamedTensor> State() const override;
  uint64_t StateBytes() const override { return BytesOf(state_); }
  // Also throws BadInput if only some of a parameter's state is there.
  void LoadState(const std::vector<NamedTensor>& state) override;

 protected:
  // A state of a parameter: the rule's s0, s1 or s2, in this order.
  struct Kind {
    const char* name;           // of the state
    double initial = 0;         // its value before the first step
    bool of_parameter = false;  // starts as the parameter's value
  };
  // `kinds` has the states of each parameter, three at most; one with a null name it does not have.
  // `counters` are further f32 scalars of each parameter, which start at 0.
  RuleOptimizer(const char* name, std::vector<NamedVariable> parameters,
                std::vector<std::vector<Kind>> kinds,
                const std::vector<std::string>& counters = {});

  // Drops the scalars of the last step; adds those of parameter i in its step of that number.
  virtual void ClearScalars() = 0;
  // Keeps the scalars of parameter i for its step of that number.
  virtual void AddScalars(size_t i, double learning_rate, double gradient_scale, double step) = 0;
  virtual size_t CountScalars() const = 0;  // since ClearScalars
  // Updates these elements by the scalars that are kept.
  virtual void Run(std::vector<RuleItem>& items) = 0;

  // Of parameter i, which has taken a step.
  float& Counter(size_t i, size_t counter);

  // The parameters that have taken a step; of WithGradient those that have a gradient.
  std::vector<size_t> Begun() const;
  std::vector<size_t> WithGradient() const;
  // What a rule updates of these parameters; without a gradient, the parameter stands for it.
  std::vector<RuleItem> Items(const std::vector<size_t>& some);
  const char* name() const { return name_; }  // for errors

 private:
  static Tensor Initial(const Tensor& like, const Kind& kind);
  // Rounds these parameters into their kept copies.
  void RoundCopies(const std::vector<size_t>& some) const;
  // Makes the state of parameter i.
  void Begin(size_t i);
  Tensor StateOf(size_t i, size_t kind) const;
  // The number of steps of each parameter.
  const std::vector<Tensor>& Steps() const { return state_[steps_].tensors; }

  const char* name_;
  std::vector<std::vector<Kind>> kinds_;  // of each parameter
  std::vector<StateKind> state_;          // by name; then step and the other counters
  size_t steps_ = 0;                      // the place of step
};

// The scalars of a rule, kept for a recorded update.
template <class Scalars>
class OptimizerOfRule : public RuleOptimizer {
 protected:
  using RuleOptimizer::RuleOptimizer;
  // The scalars of parameter i in its step of that number.
  virtual Scalars ScalarsOf(size_t i, double learning_rate, double gradient_scale, double step) = 0;
  // Those of the last Prepare; a recorded update keeps them.
  std::shared_ptr<const std::vector<Scalars>> Prepared() const { return scalars_; }

 private:
  void ClearScalars() override { scalars_->clear(); }
  void AddScalars(size_t i, double learning_rate, double gradient_scale, double step) override {
    scalars_->push_back(ScalarsOf(i, learning_rate, gradient_scale, step));
  }
  size_t CountScalars() const override { return scalars_->size(); }

  std::shared_ptr<std::vector<Scalars>> scalars_ = std::make_shared<std::vector<Scalars>>();
};

}  // namespace torus::parallel
