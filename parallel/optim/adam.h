// Adam (Kingma and Ba 2015, algorithm 1) and AdamW (Loshchilov and Hutter 2019, algorithm 2), as
// torch.optim.Adam and AdamW; adam_kernel.h has the formulas. All parameters are updated in one
// pass over memory, split by elements among the threads.
#pragma once

#include <memory>
#include <vector>

#include "parallel/optim/adam_kernel.h"
#include "parallel/optim/optimizer.h"
#include "parallel/optim/optimizer_groups.h"
#include "parallel/optim/optimizer_state.h"
#include "parallel/optim/state_type.h"

namespace torus::parallel {

// PyTorch's arguments and defaults. Members without a comment are those.
struct AdamOptions {
  double lr_scale = 1;  // factor of the step's rate: PyTorch's lr of the group / the common lr
  double beta1 = 0.9, beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  bool decoupled_decay = false;  // AdamW: decay acts on the parameter, not through the gradient
  bool amsgrad = false;          // divide by the largest variance so far (Reddi et al. 2018)
  bool maximize = false;
  // What the moments are kept in, between steps that compute in f32: less than f32 takes a rounding
  // by chance in each step (narrow_rounding.h), the same in every run. Only for f32 parameters.
  StateType state = StateType::kF32;
};

// AdamW with PyTorch's defaults: a decay of 0.01, decoupled.
inline AdamOptions AdamWOptions() { return {.weight_decay = 0.01, .decoupled_decay = true}; }

// Parameters that share options.
using AdamGroup = OptimizerGroup<AdamOptions>;

class Adam : public Optimizer {
 public:
  // Throws BadInput for a negative lr_scale, eps or weight_decay, for a beta outside [0, 1), and
  // for narrow state of an f64 parameter.
  explicit Adam(const std::vector<AdamGroup>& groups);
  // One group.
  Adam(std::vector<NamedVariable> parameters, const AdamOptions& options);

  // Throws BadInput for a negative learning rate.
  void Step(double learning_rate, double gradient_scale = 1) override;
  bool splits() const override { return true; }
  void Prepare(double learning_rate, double gradient_scale) override;
  void Update() override;
  // PARAMETER.exp_avg, PARAMETER.exp_avg_sq and, with AMSGrad, PARAMETER.max_exp_avg_sq, of the
  // parameter's shape; and PARAMETER.step, an f32 scalar: the steps it has taken. State in bf16 is
  // bf16, all other of the parameter's dtype: 8 bits are given as the f32 that they stand for, in
  // new memory.
  std::vector<NamedTensor> State() const override;
  uint64_t StateBytes() const override { return BytesOf(state_); }
  // Also throws BadInput if only some of a parameter's state is there. State of one type may be
  // loaded as another, then rounded to nearest; what has been saved goes on with the same bits.
  void LoadState(const std::vector<NamedTensor>& state) override;

 private:
  // Makes the state of parameter i if it has none yet.
  void Begin(size_t i);

  std::vector<AdamOptions> options_;  // of each parameter
  std::vector<StateKind> state_;      // exp_avg, exp_avg_sq, max_exp_avg_sq, step
  // Of each parameter with a gradient, in the step that was prepared last.
  std::shared_ptr<std::vector<AdamScalars>> scalars_ = std::make_shared<std::vector<AdamScalars>>();
};

}  // namespace torus::parallel
