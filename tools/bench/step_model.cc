#include "tools/bench/step_model.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "models/model_spec.h"
#include "parallel/optim/adam.h"
#include "parallel/optim/sgd.h"

namespace torus::bench {
namespace {

std::unique_ptr<parallel::Optimizer> MakeAdamW(std::vector<NamedVariable> parameters) {
  return std::make_unique<parallel::Adam>(std::move(parameters), parallel::AdamWOptions());
}

std::unique_ptr<parallel::Optimizer> MakeSgd(std::vector<NamedVariable> parameters) {
  return std::make_unique<parallel::Sgd>(std::move(parameters),
                                         parallel::SgdOptions{.momentum = 0.9});
}

}  // namespace

StepModel MakeStepModel(const std::string& name, bool dropout) {
  const ModelSpec spec = ParseModelSpec(name);
  const bool text = spec.task != ModelTask::kImages;
  const auto model = spec.build(spec.Config(spec.published.outputs), name,
                                {.dropout = dropout, .head_in_loss = true});
  model->Initialize(1);
  return {.model = model,
          .optimizer = text ? MakeAdamW : MakeSgd,
          .learning_rate = text ? 1e-4 : 0.01,
          .descriptor = spec};
}

}  // namespace torus::bench
