// Makes the Torus optimizer that a case names.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "parallel/optim/optimizer.h"

namespace torus::replay {

struct CaseOptimizer {
  std::unique_ptr<parallel::Optimizer> optimizer;
  double learning_rate = 0;
  double nesterov_momentum = 0;  // 0 without Nesterov
  // How far a step may be from PyTorch's because part of it is computed in bf16 on both sides.
  double low_noise = 0;
};

// `spec` is the case's "optimizer", with PyTorch's argument names. Throws Unsupported unless it is
// sgd, adam, adamw, adagrad, rmsprop, lion or muon, and for an argument that Torus does not have.
CaseOptimizer MakeOptimizer(const nlohmann::json& spec, std::vector<NamedVariable> parameters);

}  // namespace torus::replay
