// Optimizer: turns the gradients of some parameters into their next values.
//
// It owns no schedule and no learning rate: both are given to each step, so that a run's rate is a
// pure function of its step number (lr_schedule.h) and a checkpoint holds nothing but the tensors
// of State().
#pragma once

#include <string>
#include <vector>

#include "autograd/variable.h"
#include "runtime/tensor.h"

namespace torus::parallel {

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // One update in place. A parameter group's own rate is `learning_rate` times its lr_scale.
  // Gradients count as multiplied by `gradient_scale` (clipping, loss scaling) but are left as they
  // are. A parameter without gradient is skipped: neither it nor its state changes. BadInput,
  // before anything changes, when a gradient does not fit.
  virtual void Step(double learning_rate, double gradient_scale = 1) = 0;

  // What a checkpoint must hold to go on: tensors named PARAMETER.KIND
  // ("features.0.0.weight.momentum_buffer"), in the order of the parameters. They share the
  // optimizer's memory: copy or write them before the next Step. State that no step has made yet is
  // absent.
  virtual std::vector<NamedTensor> State() const = 0;

  // Replaces the whole state by copies of `state`; what is absent becomes "not yet". BadInput,
  // before anything changes, for a name that is not one of its own, one that comes twice, another
  // shape or another dtype.
  virtual void LoadState(const std::vector<NamedTensor>& state) = 0;

  // Of all groups, in the order they were given.
  const std::vector<NamedVariable>& parameters() const { return parameters_; }

  // Makes all gradients undefined.
  void ZeroGrad();

 protected:
  // BadInput, tagged `name`, unless every parameter is a contiguous f32 or f64 leaf and no name
  // comes twice.
  Optimizer(const std::string& name, std::vector<NamedVariable> parameters);

  // Of each parameter, contiguous; undefined where there is none. BadInput when one is not as its
  // parameter.
  std::vector<Tensor> Gradients() const;

 private:
  std::string name_;
  std::vector<NamedVariable> parameters_;
};

}  // namespace torus::parallel
