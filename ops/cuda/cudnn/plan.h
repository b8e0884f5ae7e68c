// A way to run a graph that cuDNN has found: found, and run. In CUDA sources only.
#pragma once

#include <memory>
#include <string_view>

#include "ops/cuda/cudnn/lower_graph.h"
#include "ops/cuda/cudnn/plan_choice.h"
#include "ops/cuda/cudnn/run_graph.h"

namespace torus::cuda {

// What cuDNN needs to know of a GPU to find plans for it (CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR).
Descriptor PropertiesOf(Device device);
// As cuDNN writes them down: plans for a GPU that is not there can be found, not run.
Descriptor PropertiesFrom(std::string_view json);

// Of the engine of a configuration (CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).
EngineNotes NotesOf(const Descriptor& configuration);

// Keeps alive what the plan was made of.
struct ExecutionPlan {
  std::shared_ptr<const LoweredGraph> graph;
  Descriptor engine, plan;  // the engine's configuration
  int64_t workspace = 0;    // bytes
};

// Null where cuDNN has none that the rules allow.
std::shared_ptr<const ExecutionPlan> FindPlan(const Graph& graph, const EngineRules& rules,
                                              const Descriptor& properties);

// `addresses` as of RunGraph. The handle is of this thread and of `device`, and has the stream.
void RunPlan(const ExecutionPlan& plan, const Graph& graph, GraphAddresses addresses,
             cudnnHandle_t handle, Device device);

}  // namespace torus::cuda
