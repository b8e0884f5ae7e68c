// The optimizer that a case names, of ours.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "parallel/optim/optimizer.h"

namespace torus::replay {

struct CaseOptimizer {
  std::unique_ptr<parallel::Optimizer> optimizer;
  double learning_rate = 0;
  double nesterov_momentum = 0;  // 0 without Nesterov's
};

// `spec` is the case's "optimizer", by PyTorch's argument names. Unsupported for another than sgd,
// adam and adamw, or an argument that we have not.
CaseOptimizer MakeOptimizer(const nlohmann::json& spec, std::vector<NamedVariable> parameters);

}  // namespace torus::replay
