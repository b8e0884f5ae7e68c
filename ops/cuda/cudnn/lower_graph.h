// Translates a graph to cuDNN's descriptors. For sources built with CUDA only.
#pragma once

#include <vector>

#include "ops/cuda/cudnn/descriptor.h"
#include "ops/cuda/cudnn/graph.h"

namespace torus::cuda {

// Tensor i has the unique id i + 1. Throws NotSupported if cuDNN has no such operation.
class LoweredGraph {
 public:
  explicit LoweredGraph(const Graph& graph);
  // CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR
  const Descriptor& descriptor() const { return graph_; }

 private:
  std::vector<Descriptor> tensors_, parameters_, operations_;
  Descriptor graph_;
};

inline int64_t UniqueId(size_t tensor) { return static_cast<int64_t>(tensor) + 1; }

}  // namespace torus::cuda
