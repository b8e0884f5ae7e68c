// The optimizer that --optimizer names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "parallel/optim/optimizer.h"
#include "recipes/settings/settings.h"

namespace torus::recipes {

// "sgd", "adam", "adamw", "adagrad", "rmsprop", "lion".
std::vector<std::string> OptimizerNames();
// The same, each with a short description.
std::vector<std::pair<std::string, std::string>> OptimizerDescriptions();

// Makes the optimizer of `settings`. SGD, Adagrad and RMSprop apply weight decay to every
// parameter; Adam, AdamW and Lion only to those of two or more dimensions, so not to biases and the
// weights of norms. What settings do not name is PyTorch's default, of Lion its authors'.
std::unique_ptr<parallel::Optimizer> MakeOptimizer(const Settings& settings,
                                                   std::vector<NamedVariable> parameters);

// Bytes of that optimizer's state of so many values, counters left out.
double StateBytesOf(const Settings& settings, int64_t elements);

}  // namespace torus::recipes
