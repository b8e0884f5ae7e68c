// What runs graphs on emulated GPUs, where there is no cuDNN: nothing, or what a test puts there.
#pragma once

#include <functional>

#include "ops/cuda/cudnn/run_graph.h"

namespace torus::cuda {

using GraphRunner =
    std::function<bool(const Graph&, const EngineRules&, GraphAddresses, Device, StreamHandle)>;

// While one is alive, RunGraph of an emulated GPU is `runner`, from any thread. One at a time; no
// other thread may be in RunGraph as it is made or ends. Real GPUs do not ask for it.
class GraphStandIn {
 public:
  explicit GraphStandIn(GraphRunner runner);
  ~GraphStandIn();
  GraphStandIn(const GraphStandIn&) = delete;
  GraphStandIn& operator=(const GraphStandIn&) = delete;

  // Empty where there is none.
  static const GraphRunner& Current();
};

}  // namespace torus::cuda
