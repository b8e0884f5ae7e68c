#include "ops/cuda/cudnn/plan_key.h"

#include <fmt/ranges.h>

namespace torus::cuda {

std::string TextOf(const Graph& graph, const EngineRules& rules) {
  return fmt::format("{}, {}, workspace {}: {}", DescribeGraph(graph),
                     rules.tensor_cores ? "by tensor cores" : "without tensor cores",
                     rules.most_workspace, fmt::join(NumbersOf(graph), " "));
}

}  // namespace torus::cuda
