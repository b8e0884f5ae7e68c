// Finds and runs cuDNN's execution plans for graphs. For sources built with CUDA only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "ops/cuda/cudnn/lower_graph.h"
#include "ops/cuda/cudnn/plan_choice.h"
#include "ops/cuda/cudnn/run_graph.h"

namespace torus::cuda {

// The properties of a GPU that cuDNN needs to find plans for it
// (CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR).
Descriptor PropertiesOf(Device device);
// The same, parsed from cuDNN's JSON. So plans can be found, but not run, for a GPU that is not
// there.
Descriptor PropertiesFrom(std::string_view json);

// The notes of the engine of a configuration (CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).
EngineNotes NotesOf(const Descriptor& configuration);
// The engine and its knobs, which tell it from all others.
std::string TextOf(const Descriptor& configuration);

// A plan, and the objects it refers to.
struct ExecutionPlan {
  std::shared_ptr<const LoweredGraph> graph;
  std::shared_ptr<const Descriptor> engine;  // its configuration
  Descriptor plan;
  int64_t workspace = 0;  // bytes
  bool compiled = false;  // at run time
};

// What a plan is chosen for, and how proposals are timed where its plans autotune.
struct PlanSearch {
  PlanQuestion question{};
  std::function<double(const ExecutionPlan&)> seconds{};
};

// Returns the plan that is chosen, null if cuDNN has none that the rules allow.
std::shared_ptr<const ExecutionPlan> FindPlan(const Graph& graph, const EngineRules& rules,
                                              const Descriptor& properties,
                                              const PlanSearch& search = {});

// `addresses` as in RunGraph. The handle must belong to this thread and `device`, and have the
// stream set.
void RunPlan(const ExecutionPlan& plan, const Graph& graph, GraphAddresses addresses,
             cudnnHandle_t handle, Device device);

}  // namespace torus::cuda
