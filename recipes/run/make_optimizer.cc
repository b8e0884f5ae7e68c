#include "recipes/run/make_optimizer.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "parallel/optim/adagrad.h"
#include "parallel/optim/adam.h"
#include "parallel/optim/lion.h"
#include "parallel/optim/narrow_state.h"
#include "parallel/optim/rmsprop.h"
#include "parallel/optim/sgd.h"
#include "runtime/did_you_mean.h"
#include "runtime/error.h"

namespace torus::recipes {
namespace {

// Without decay for biases and the weights of norms.
template <class Group, class Options>
std::vector<Group> Groups(const Options& options, std::vector<NamedVariable> parameters) {
  Group decayed{.parameters = {}, .options = options}, others = decayed;
  others.options.weight_decay = 0;
  for (NamedVariable& parameter : parameters) {
    Group& group = parameter.value.rank() >= 2 ? decayed : others;
    group.parameters.push_back(std::move(parameter));
  }
  return {std::move(decayed), std::move(others)};
}

std::unique_ptr<parallel::Optimizer> MakeAdam(const Settings& s,
                                              std::vector<NamedVariable> parameters) {
  const parallel::AdamOptions options{.beta1 = s.beta1,
                                      .beta2 = s.beta2,
                                      .weight_decay = s.weight_decay,
                                      .decoupled_decay = s.optimizer == "adamw",
                                      .state = StateTypeByName(s.optimizer_state)};
  return std::make_unique<parallel::Adam>(
      Groups<parallel::AdamGroup>(options, std::move(parameters)));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> OptimizerDescriptions() {
  return {{"sgd", "SGD with momentum"},
          {"adam", "Adam, weight decay added to the gradient"},
          {"adamw", "Adam with decoupled weight decay"},
          {"adagrad", "Adagrad"},
          {"rmsprop", "RMSprop"},
          {"lion", "Lion, weight decay decoupled"}};
}

std::vector<std::string> OptimizerNames() {
  std::vector<std::string> names;
  for (const auto& [name, about] : OptimizerDescriptions()) names.push_back(name);
  return names;
}

std::unique_ptr<parallel::Optimizer> MakeOptimizer(const Settings& s,
                                                   std::vector<NamedVariable> parameters) {
  if (s.optimizer == "adagrad")
    return std::make_unique<parallel::Adagrad>(
        std::move(parameters), parallel::AdagradOptions{.weight_decay = s.weight_decay});
  if (s.optimizer == "rmsprop")
    return std::make_unique<parallel::Rmsprop>(
        std::move(parameters), parallel::RmspropOptions{.weight_decay = s.weight_decay});
  if (s.optimizer == "lion")
    return std::make_unique<parallel::Lion>(Groups<parallel::LionGroup>(
        parallel::LionOptions{.weight_decay = s.weight_decay}, std::move(parameters)));
  if (s.optimizer != "sgd") return MakeAdam(s, std::move(parameters));
  const parallel::SgdOptions sgd{
      .momentum = s.momentum, .weight_decay = s.weight_decay, .nesterov = s.nesterov};
  return std::make_unique<parallel::Sgd>(std::move(parameters), sgd);
}

parallel::StateType StateTypeByName(const std::string& name) {
  const std::vector<std::string> names{"f32", "bf16", "8bit"};  // in the order of StateType
  const auto found = std::ranges::find(names, name);
  if (found == names.end())
    Throw<BadInput>("train", "--optimizer-state must be one of {}, got {}{}",
                    fmt::join(names, ", "), name, DidYouMean(name, names));
  return static_cast<parallel::StateType>(found - names.begin());
}

double BytesOfOptimizerState(const Settings& s, int64_t elements) {
  double copies = 1;
  if (s.optimizer == "sgd") copies = s.momentum > 0 ? 1 : 0;
  if (s.optimizer.starts_with("adam")) copies = 2;
  const parallel::StateType type = StateTypeByName(s.optimizer_state);
  return copies * static_cast<double>(parallel::BytesOfState(type, elements));
}

}  // namespace torus::recipes
