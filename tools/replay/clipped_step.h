// ClippedStep: a step of a case's optimizer after the case's gradient clipping.
#pragma once

#include <vector>

#include "tools/replay/optimizer_case.h"

namespace torus::replay {

class ClippedStep {
 public:
  // `spec` is the case's "optimizer", which may have a "clip_grad_norm". Throws the errors of
  // MakeOptimizer.
  ClippedStep(const nlohmann::json& spec, std::vector<NamedVariable> parameters);

  // Scales all gradients so that their total norm is at most clip_grad_norm, as
  // torch.nn.utils.clip_grad_norm_ does, and takes the optimizer's step.
  void Step();
  // The factor by which clipping multiplied the last step's gradients.
  double gradient_scale() const { return gradient_scale_; }

  parallel::Optimizer& optimizer() { return *made_.optimizer; }
  double learning_rate() const { return made_.learning_rate; }
  double nesterov_momentum() const { return made_.nesterov_momentum; }

 private:
  CaseOptimizer made_;
  double clip_norm_ = 0, gradient_scale_ = 1;  // 0: no clipping
};

}  // namespace torus::replay
