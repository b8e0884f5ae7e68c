// ClippedStep: a case's optimizer, with gradients clipped as the case says.
#pragma once

#include <vector>

#include "tools/replay/optimizer_case.h"

namespace torus::replay {

class ClippedStep {
 public:
  // `spec`: the case's "optimizer" with its "clip_grad_norm", if it has one. Errors of
  // MakeOptimizer.
  ClippedStep(const nlohmann::json& spec, std::vector<NamedVariable> parameters);

  // Scales the gradients so that their norm together is at most clip_grad_norm, as
  // torch.nn.utils.clip_grad_norm_ does, and takes the optimizer's step.
  void Step();
  // What clipping multiplied the last step's gradients by.
  double gradient_scale() const { return gradient_scale_; }

  parallel::Optimizer& optimizer() { return *made_.optimizer; }
  double learning_rate() const { return made_.learning_rate; }
  double nesterov_momentum() const { return made_.nesterov_momentum; }

 private:
  CaseOptimizer made_;
  double clip_norm_ = 0, gradient_scale_ = 1;  // 0: no clipping
};

}  // namespace torus::replay
