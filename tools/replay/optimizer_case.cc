#include "tools/replay/optimizer_case.h"

#include "parallel/optim/sgd.h"
#include "tools/replay/attrs.h"
#include "tools/replay/case.h"

namespace torus::replay {

CaseOptimizer MakeOptimizer(const nlohmann::json& spec, std::vector<NamedVariable> parameters) {
  Attrs attrs("optimizer", spec);
  const std::string name = attrs.Text("name", "");
  if (name != "sgd") Throw<Unsupported>("optimizer", "no {}", name);
  CaseOptimizer made{.learning_rate = attrs.Number("lr", 1e-3),
                     .momentum = attrs.Number("momentum", 0)};
  parallel::SgdOptions options{.momentum = made.momentum};
  options.dampening = attrs.Number("dampening", 0);
  options.weight_decay = attrs.Number("weight_decay", 0);
  options.nesterov = attrs.Flag("nesterov", false);
  attrs.Finish();
  made.optimizer = std::make_unique<parallel::Sgd>(std::move(parameters), options);
  return made;
}

}  // namespace torus::replay
