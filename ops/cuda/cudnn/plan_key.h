// What the plan of a graph is cached and kept by.
#pragma once

#include <cstdint>
#include <string>

#include "ops/cuda/cudnn/graph.h"
#include "ops/cuda/cudnn/plan_cache.h"
#include "ops/cuda/cudnn/plan_choice.h"

namespace torus::cuda {

// The whole graph, what the caller allows, and whose choices are followed (Plans::id).
inline PlanKey KeyOf(const Graph& graph, const EngineRules& rules, uint64_t choices = 0) {
  PlanKey key = NumbersOf(graph);
  key.push_back(rules.tensor_cores);
  key.push_back(rules.most_workspace);
  key.push_back(static_cast<int64_t>(choices));
  return key;
}

// The same without the choices, as text: its name, and all of it in numbers.
std::string TextOf(const Graph& graph, const EngineRules& rules);

}  // namespace torus::cuda
