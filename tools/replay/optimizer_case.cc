#include "tools/replay/optimizer_case.h"

#include "parallel/optim/adam.h"
#include "parallel/optim/sgd.h"
#include "tools/replay/attrs.h"
#include "tools/replay/case.h"

namespace torus::replay {
namespace {

using Parameters = std::vector<NamedVariable>;

std::unique_ptr<parallel::Optimizer> MakeSgd(Attrs& attrs, Parameters parameters) {
  parallel::SgdOptions options{.momentum = attrs.Number("momentum", 0)};
  options.dampening = attrs.Number("dampening", 0);
  options.weight_decay = attrs.Number("weight_decay", 0);
  options.nesterov = attrs.Flag("nesterov", false);
  options.maximize = attrs.Flag("maximize", false);
  return std::make_unique<parallel::Sgd>(std::move(parameters), options);
}

void ReadBetas(Attrs& attrs, parallel::AdamOptions& options) {
  const nlohmann::json betas = attrs.Raw("betas");
  if (betas.is_null()) return;
  if (!betas.is_array() || betas.size() != 2 || !betas[0].is_number() || !betas[1].is_number())
    Throw<Unsupported>("optimizer", "betas {}", betas.dump());
  options.beta1 = betas[0].get<double>();
  options.beta2 = betas[1].get<double>();
}

std::unique_ptr<parallel::Optimizer> MakeAdam(Attrs& attrs, Parameters parameters,
                                              parallel::AdamOptions options) {
  ReadBetas(attrs, options);
  options.eps = attrs.Number("eps", options.eps);
  options.weight_decay = attrs.Number("weight_decay", options.weight_decay);
  options.decoupled_decay = attrs.Flag("decoupled_weight_decay", options.decoupled_decay);
  options.amsgrad = attrs.Flag("amsgrad", false);
  options.maximize = attrs.Flag("maximize", false);
  return std::make_unique<parallel::Adam>(std::move(parameters), options);
}

}  // namespace

CaseOptimizer MakeOptimizer(const nlohmann::json& spec, Parameters parameters) {
  Attrs attrs("optimizer", spec);
  const std::string name = attrs.Text("name", "");
  // How PyTorch computes it, not what.
  for (const char* way : {"foreach", "fused", "capturable", "differentiable"}) attrs.Raw(way);
  CaseOptimizer made{.learning_rate = attrs.Number("lr", 1e-3)};
  if (name == "sgd" && attrs.Flag("nesterov", false))
    made.nesterov_momentum = attrs.Number("momentum", 0);
  if (name == "sgd")
    made.optimizer = MakeSgd(attrs, std::move(parameters));
  else if (name == "adam")
    made.optimizer = MakeAdam(attrs, std::move(parameters), {});
  else if (name == "adamw")
    made.optimizer = MakeAdam(attrs, std::move(parameters), parallel::AdamWOptions());
  else
    Throw<Unsupported>("optimizer", "no {}", name);
  attrs.Finish();
  return made;
}

}  // namespace torus::replay
