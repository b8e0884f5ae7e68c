// What cuDNN answers for a graph on a GPU that is described to it: it finds plans without one.
#pragma once

#include <cstdint>

#include "ops/cuda/cudnn/graph.h"
#include "ops/cuda/cudnn/plan_choice.h"

namespace torus::testing {

struct ProbedPlan {
  bool found = false;
  int64_t workspace = 0;  // bytes
  cuda::EngineNotes notes;
};

// For an H100. `found` is also false where the plan's kernel is one that cuDNN compiles and a
// machine without a driver cannot load.
ProbedPlan PlanForHopper(const cuda::Graph& graph, const cuda::EngineRules& rules);

// Whether cuDNN takes the graph's descriptions at all, of whatever GPU.
bool IsGraphOfCudnn(const cuda::Graph& graph);

}  // namespace torus::testing
