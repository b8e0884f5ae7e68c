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
// The same, each with what it is, in a few words.
std::vector<std::pair<std::string, std::string>> OptimizerDescriptions();

// SGD decays every parameter; Adam and AdamW those of two dimensions or more: neither biases nor
// the weights of norms.
std::unique_ptr<parallel::Optimizer> MakeOptimizer(const Settings& settings,
                                                   std::vector<NamedVariable> parameters);

}  // namespace torus::recipes
