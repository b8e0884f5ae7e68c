#include "recipes/run/make_optimizer.h"

#include "parallel/optim/adam.h"
#include "parallel/optim/sgd.h"
#include "runtime/error.h"

namespace torus::recipes {
namespace {

using parallel::AdamGroup;

std::vector<AdamGroup> Groups(const Settings& s, std::vector<NamedVariable> parameters) {
  AdamGroup decayed{.parameters = {},
                    .options = {.beta1 = s.beta1,
                                .beta2 = s.beta2,
                                .weight_decay = s.weight_decay,
                                .decoupled_decay = s.optimizer == "adamw"}};
  AdamGroup others = decayed;
  others.options.weight_decay = 0;
  for (NamedVariable& parameter : parameters) {
    AdamGroup& group = parameter.value.rank() >= 2 ? decayed : others;
    group.parameters.push_back(std::move(parameter));
  }
  return {std::move(decayed), std::move(others)};
}

}  // namespace

std::vector<std::pair<std::string, std::string>> OptimizerDescriptions() {
  return {{"sgd", "SGD with momentum"},
          {"adam", "Adam, weight decay added to the gradient"},
          {"adamw", "Adam with decoupled weight decay"}};
}

std::vector<std::string> OptimizerNames() {
  std::vector<std::string> names;
  for (const auto& [name, about] : OptimizerDescriptions()) names.push_back(name);
  return names;
}

std::unique_ptr<parallel::Optimizer> MakeOptimizer(const Settings& s,
                                                   std::vector<NamedVariable> parameters) {
  if (s.optimizer != "sgd")
    return std::make_unique<parallel::Adam>(Groups(s, std::move(parameters)));
  const parallel::SgdOptions sgd{
      .momentum = s.momentum, .weight_decay = s.weight_decay, .nesterov = s.nesterov};
  return std::make_unique<parallel::Sgd>(std::move(parameters), sgd);
}

}  // namespace torus::recipes
