// What cuDNN answers for a graph on a GPU that is described to it: it finds plans without one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "ops/cuda/cudnn/graph.h"
#include "ops/cuda/cudnn/plan_choice.h"

namespace torus::testing {

struct ProbedPlan {
  bool found = false;
  int64_t workspace = 0;  // bytes
  cuda::EngineNotes notes;
  std::string text;  // engine and knobs
};

// For an H100. `found` is also false where the plan's kernel is one that cuDNN compiles and a
// machine without a driver cannot load. `seconds`: what to take a plan's time for, by engine and
// knobs.
ProbedPlan PlanForHopper(const cuda::Graph& graph, const cuda::EngineRules& rules,
                         const cuda::PlanQuestion& question = {},
                         const std::function<double(const std::string&)>& seconds = {});

// Whether cuDNN takes the graph's descriptions at all, of whatever GPU.
bool IsGraphOfCudnn(const cuda::Graph& graph);

}  // namespace torus::testing
