// Optimizer: turns the gradients of some parameters into their next values.
//
// It owns no schedule and no learning rate: both are given to each step, so that a run's rate is a
// pure function of its step number (lr_schedule.h) and a checkpoint holds nothing but the tensors
// of State().
#pragma once

#include <cstdint>
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

  // Whether a Step is Prepare and then Update. Then it can be recorded (runtime/graph.h): Update is
  // the device's part, and reads what differs from step to step where a Prepare has left it, also
  // each time that it is launched again. Prepare is the host's part: it counts the step and makes
  // state that is not there yet, so one Update, or one launch, comes behind it. Both need the
  // gradients: BadInput, before anything changes, where Update finds another number of them than
  // Prepare did. What is recorded has the addresses of parameters, gradients and state in it, and
  // of nothing else that may move.
  virtual bool splits() const { return false; }
  virtual void Prepare(double /*learning_rate*/, double /*gradient_scale*/) { RefuseHalves(); }
  virtual void Update() { RefuseHalves(); }
  // How often tensors of the state have been made or replaced, where it splits.
  uint64_t state_moves() const { return state_moves_; }

  // What a checkpoint must hold to go on: tensors named PARAMETER.KIND
  // ("features.0.0.weight.momentum_buffer"), in the order of the parameters. They share the
  // optimizer's memory: copy or write them before the next Step. A parameter that has not taken a
  // step yet has none.
  virtual std::vector<NamedTensor> State() const = 0;

  // Replaces the whole state by copies of `state`; a parameter without state in it is as before its
  // first step. BadInput, before anything changes, for an unknown name, one that comes twice,
  // another shape or another dtype.
  virtual void LoadState(const std::vector<NamedTensor>& state) = 0;

  // Of all groups, in the order they were given.
  const std::vector<NamedVariable>& parameters() const { return parameters_; }

  // Makes all gradients undefined.
  void ZeroGrad();

 protected:
  // BadInput, tagged `name`, unless every parameter is a contiguous f32 or f64 leaf and no name
  // comes twice.
  Optimizer(const std::string& name, std::vector<NamedVariable> parameters);

  // The gradient of each parameter; undefined where it has none. BadInput when shape or dtype are
  // not those of the parameter.
  std::vector<Tensor> Gradients() const;
  // The values of parameters with a gradient are about to change, be it by a launch: whoever keeps
  // copies of them (autograd/low_copy.h) must find out.
  void MarkChanged();
  void StateMoved() { ++state_moves_; }

 private:
  // InternalError: it does not split.
  void RefuseHalves() const;

  std::string name_;
  std::vector<NamedVariable> parameters_;
  uint64_t state_moves_ = 0;
};

}  // namespace torus::parallel
