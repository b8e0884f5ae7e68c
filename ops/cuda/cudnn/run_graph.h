// Runs graphs on a GPU by cuDNN. On an emulated GPU nothing is run, unless a test or a tool
// installs a stand-in (graph_stand_in.h).
#pragma once

#include <span>

#include "ops/cuda/cudnn/graph.h"
#include "ops/cuda/cudnn/plan_choice.h"
#include "runtime/device.h"

namespace torus::cuda {

// The address of each of a graph's tensors: in GPU memory; for one by value in host memory, read
// before the call returns; null for a virtual one.
using GraphAddresses = std::span<const void* const>;

// Launches the graph in `stream` of `device`, the calling thread's GPU, and returns true; outputs
// are overwritten. Returns false, and writes nothing, if cuDNN has no plan for it that the rules
// allow. Plans are cached: each thread keeps a bounded number per device (cuDNN does not promise
// that threads may share one) and leaves them to later threads. Which of cuDNN's proposals is taken
// the thread's Plans say (ops/cuda/plans.h). The same graph, rules, values and choices give the
// same bits on GPUs of the same model. Throws BrokenEnvironment that names cuDNN's call
// and message if one fails.
bool RunGraph(const Graph& graph, const EngineRules& rules, GraphAddresses addresses, Device device,
              StreamHandle stream);

}  // namespace torus::cuda
