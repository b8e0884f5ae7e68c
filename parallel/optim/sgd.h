// Stochastic gradient descent, exactly as torch.optim.SGD: a parameter's first step sets its
// momentum buffer to the gradient, without dampening, and a step without gradient leaves the buffer
// as it is. sgd_kernel.h has the formulas.
#pragma once

#include <memory>
#include <vector>

#include "parallel/optim/optimizer.h"
#include "parallel/optim/optimizer_groups.h"
#include "parallel/optim/optimizer_state.h"
#include "parallel/optim/sgd_kernel.h"

namespace torus::parallel {

// PyTorch's arguments and defaults. Members without a comment are those.
struct SgdOptions {
  double lr_scale = 1;  // factor of the step's rate: PyTorch's lr of the group / the common lr
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
  bool maximize = false;
};

// Parameters that share options.
using SgdGroup = OptimizerGroup<SgdOptions>;

class Sgd : public Optimizer {
 public:
  // Throws BadInput for a negative lr_scale, momentum or weight_decay, and for Nesterov without
  // momentum or with dampening.
  explicit Sgd(const std::vector<SgdGroup>& groups);
  // One group.
  Sgd(std::vector<NamedVariable> parameters, const SgdOptions& options);

  // Throws BadInput for a negative learning rate.
  void Step(double learning_rate, double gradient_scale = 1) override;
  bool splits() const override { return true; }
  void Prepare(double learning_rate, double gradient_scale) override;
  void Update() override;
  // PARAMETER.momentum_buffer, of the parameter's shape and dtype.
  std::vector<NamedTensor> State() const override;
  uint64_t StateBytes() const override { return BytesOf(state_); }
  void LoadState(const std::vector<NamedTensor>& state) override;

 private:
  std::vector<SgdOptions> options_;  // of each parameter
  std::vector<StateKind> state_;     // the momentum buffers
  // Of each parameter with a gradient, in the step that was prepared last.
  std::shared_ptr<std::vector<SgdScalars>> scalars_ = std::make_shared<std::vector<SgdScalars>>();
};

}  // namespace torus::parallel
