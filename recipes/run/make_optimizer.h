// The optimizer that --optimizer names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "parallel/optim/optimizer.h"
#include "parallel/optim/state_type.h"
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

// The type of the optimizer's state that --optimizer-state names: "f32", "bf16" or "8bit". Throws
// BadInput for another name.
parallel::StateType StateTypeByName(const std::string& name);

// Bytes of that optimizer's state of so many values, counters left out.
double BytesOfOptimizerState(const Settings& settings, int64_t elements);

}  // namespace torus::recipes
