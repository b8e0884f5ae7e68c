// RunGraph of emulated GPUs.
#include "ops/cuda/cudnn/graph_stand_in.h"

namespace torus::cuda {

bool RunGraph(const Graph& graph, const EngineRules& rules, GraphAddresses addresses, Device device,
              StreamHandle stream) {
  const GraphRunner& run = GraphStandIn::Current();
  return run != nullptr && run(graph, rules, addresses, device, stream);
}

}  // namespace torus::cuda
