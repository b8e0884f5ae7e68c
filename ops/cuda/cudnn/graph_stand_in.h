// Lets a test or a tool run graphs on emulated GPUs, where there is no cuDNN and otherwise nothing
// runs them.
#pragma once

#include <functional>

#include "ops/cuda/cudnn/run_graph.h"

namespace torus::cuda {

using GraphRunner =
    std::function<bool(const Graph&, const EngineRules&, GraphAddresses, Device, StreamHandle)>;

// While it is alive, RunGraph on an emulated GPU calls `runner`, from any thread. There may be one
// at a time, and no other thread may be in RunGraph while it is created or destroyed. Real GPUs
// ignore it.
class GraphStandIn {
 public:
  explicit GraphStandIn(GraphRunner runner);
  ~GraphStandIn();
  GraphStandIn(const GraphStandIn&) = delete;
  GraphStandIn& operator=(const GraphStandIn&) = delete;

  // The current runner; empty if there is none.
  static const GraphRunner& Current();
};

}  // namespace torus::cuda
