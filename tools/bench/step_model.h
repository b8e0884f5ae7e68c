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

// The registry's model as published, initialised, in training mode; `dropout`: with the published
// rates of it, else without (since two frameworks draw different numbers). Image models use SGD
// with momentum 0.9 and learning rate 0.01, text models AdamW with 1e-4. Throws BadInput for an
// unknown name.
StepModel MakeStepModel(const std::string& name, bool dropout = false);

}  // namespace torus::bench
