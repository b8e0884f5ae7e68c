// Runs graphs on a GPU by cuDNN. An emulated GPU has none: there nothing is run, unless a test puts
// something in its place (graph_stand_in.h).
#pragma once

#include <span>

#include "ops/cuda/cudnn/graph.h"
#include "ops/cuda/cudnn/plan_choice.h"
#include "runtime/device.h"

namespace torus::cuda {

// Of each of a graph's tensors: its memory on the GPU; of one by value the host's, read before the
// call returns; null for a virtual one.
using GraphAddresses = std::span<const void* const>;

// True once the graph is on its way in the stream of `device`, the calling thread's GPU; outputs
// are overwritten. False where cuDNN has no plan for it that the rules allow: then nothing is
// written. The plan is looked for once; each thread keeps a bounded number of them for each device
// (cuDNN does not promise that threads may share one), and leaves them to later threads. The same
// graph, rules and values give the same bits on GPUs of one kind. BrokenEnvironment, naming cuDNN's
// call and what it says, where one fails.
bool RunGraph(const Graph& graph, const EngineRules& rules, GraphAddresses addresses, Device device,
              StreamHandle stream);

}  // namespace torus::cuda
