// Optimizer: updates parameters by their gradients.
//
// It has no learning rate and no schedule of one: each step is given its rate, a pure function of
// the step number (lr_schedule.h), so a checkpoint needs nothing but the tensors of State().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "autograd/variable.h"
#include "runtime/tensor.h"

namespace torus::parallel {

// Throws BadInput tagged `optimizer` unless the value of `what` is finite and at least 0.
void CheckAtLeast0(const char* optimizer, const char* what, double value);
// Or unless it lies in [0, 1).
void CheckBelow1(const char* optimizer, const char* what, double value);

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Updates the parameters in place. The rate of a parameter group is `learning_rate` times its
  // lr_scale. Gradients are used as if multiplied by `gradient_scale` (clipping, loss scaling), but
  // do not change. A parameter without gradient is skipped: neither it nor its state changes.
  // Throws BadInput, before anything changes, if a gradient does not fit its parameter.
  virtual void Step(double learning_rate, double gradient_scale = 1) = 0;

  // Whether Step is the same as Prepare followed by Update, so that it can be recorded in a graph
  // (runtime/gpu_graph.h). Prepare is the host's part: it counts the step, makes missing state, and
  // stores the values that differ from step to step. Update is the device's part: it reads these
  // values, again at each launch. So call Prepare once before each Update or launch. Both need the
  // gradients: Update throws BadInput, before anything changes, if their number differs from what
  // Prepare found. A recording contains the addresses of parameters, gradients, state and kept
  // copies of parameters (autograd/low_copy.h), and of nothing else that may move.
  virtual bool splits() const { return false; }
  virtual void Prepare(double /*learning_rate*/, double /*gradient_scale*/) { RefuseHalves(); }
  virtual void Update() { RefuseHalves(); }
  // To be called after each launch that repeats an Update: it has written the kept copies.
  void AfterLaunch() { CopiesAreWritten(); }
  // How often tensors of the state were made or replaced, which changes their addresses; counted if
  // splits().
  uint64_t state_moves() const { return state_moves_; }

  // The state to be stored in a checkpoint: tensors named PARAMETER.KIND
  // ("features.0.0.weight.momentum_buffer"), in the order of the parameters. They may share the
  // optimizer's memory: copy or write them before the next Step. A parameter that has taken no step
  // yet has none.
  virtual std::vector<NamedTensor> State() const = 0;

  // The bytes that the state takes in memory; here those of State(). Asked for in every step, so
  // optimizers with many tensors should not make names for it.
  virtual uint64_t StateBytes() const;

  // Replaces the whole state by copies of `state`; a parameter without an entry in it is as before
  // its first step. Throws BadInput, before anything changes, for an unknown or repeated name, or a
  // wrong shape or dtype.
  virtual void LoadState(const std::vector<NamedTensor>& state) = 0;

  // The parameters of all groups, in the order they were given.
  const std::vector<NamedVariable>& parameters() const { return parameters_; }

  // Makes all gradients undefined.
  void ZeroGrad();

 protected:
  // Throws BadInput, tagged `name`, unless every parameter is a contiguous f32 or f64 leaf and all
  // names differ.
  Optimizer(const std::string& name, std::vector<NamedVariable> parameters);

  // The gradient of each parameter; undefined if it has none. Throws BadInput if a shape or dtype
  // is not that of the parameter.
  std::vector<Tensor> Gradients() const;
  // Throws BadInput unless Prepare has seen as many gradients. Called before anything changes.
  static void CheckPrepared(size_t updated, size_t prepared);
  // Marks the values of parameters with a gradient as changed, so that copies of them
  // (autograd/low_copy.h) are renewed. To be called before an update, also one by a launch.
  void MarkChanged();
  // To be called after an update that has written their kept copies.
  void CopiesAreWritten();
  // To be called for each tensor of the state that is made or replaced.
  void StateMoved() { ++state_moves_; }

 private:
  // Throws InternalError: it does not split.
  void RefuseHalves() const;

  std::string name_;
  std::vector<NamedVariable> parameters_;
  uint64_t state_moves_ = 0;
};

}  // namespace torus::parallel
