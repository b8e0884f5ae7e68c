// The plain meaning of a graph: evaluated on a CPU, one element at a time. It stands in for cuDNN
// on emulated GPUs, so that what is asked of cuDNN is held against the CPU's ops.
#pragma once

#include "ops/cuda/cudnn/graph_stand_in.h"

namespace torus::testing {

// Reads and writes the memory at the addresses, as RunGraph has them. Computes in f64 and rounds
// each result to its tensor's type.
void EvaluateGraph(const cuda::Graph& graph, cuda::GraphAddresses addresses);

// Evaluates the graphs that `takes` says, in the order of an emulated GPU's streams, and counts
// them.
class CountingStandIn {
 public:
  explicit CountingStandIn(std::function<bool(const cuda::Graph&)> takes = [](const cuda::Graph&) {
    return true;
  });
  int graphs() const { return graphs_; }

 private:
  int graphs_ = 0;
  cuda::GraphStandIn stand_in_;
};

}  // namespace torus::testing
