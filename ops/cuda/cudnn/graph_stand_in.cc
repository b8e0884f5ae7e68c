#include "ops/cuda/cudnn/graph_stand_in.h"

#include <utility>

namespace torus::cuda {
namespace {

GraphRunner& Runner() {
  static GraphRunner runner;
  return runner;
}

}  // namespace

GraphStandIn::GraphStandIn(GraphRunner runner) { Runner() = std::move(runner); }
GraphStandIn::~GraphStandIn() { Runner() = nullptr; }
const GraphRunner& GraphStandIn::Current() { return Runner(); }

}  // namespace torus::cuda
