// The optimizer that --optimizer names.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "parallel/optim/optimizer.h"
#include "recipes/settings/settings.h"

namespace torus::recipes {

// "sgd", "adam", "adamw".
std::vector<std::string> OptimizerNames();
// The same, each with a short description.
std::vector<std::pair<std::string, std::string>> OptimizerDescriptions();

// Makes the optimizer of `settings`. SGD applies weight decay to every parameter; Adam and AdamW
// only to those of two or more dimensions, so not to biases and the weights of norms.
std::unique_ptr<parallel::Optimizer> MakeOptimizer(const Settings& settings,
                                                   std::vector<NamedVariable> parameters);

}  // namespace torus::recipes
