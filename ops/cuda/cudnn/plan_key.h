// The cache key of a plan.
#pragma once

#include "ops/cuda/cudnn/graph.h"
#include "ops/cuda/cudnn/plan_cache.h"
#include "ops/cuda/cudnn/plan_choice.h"

namespace torus::cuda {

// The whole graph, and what the caller allows.
inline PlanKey KeyOf(const Graph& graph, const EngineRules& rules) {
  PlanKey key = NumbersOf(graph);
  key.push_back(rules.tensor_cores);
  key.push_back(rules.most_workspace);
  return key;
}

}  // namespace torus::cuda
