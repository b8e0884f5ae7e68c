// The models whose training steps are timed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/descriptor.h"
#include "parallel/optim/optimizer.h"

namespace torus::bench {

struct StepModel {
  std::shared_ptr<nn::Sequential> model;
  std::function<std::unique_ptr<parallel::Optimizer>(std::vector<NamedVariable>)> optimizer;
  double learning_rate = 0;
  ModelDescriptor descriptor;
};

// The registry's model as published, without dropout (two frameworks draw different numbers), in
// training mode, initialised. Images learn by SGD with momentum 0.9 at a rate of 0.01, text by
// AdamW at 1e-4. BadInput for an unknown name.
StepModel MakeStepModel(const std::string& name);

}  // namespace torus::bench
