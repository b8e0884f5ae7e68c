// RunGraph of emulated GPUs.
#include <memory>

#include "ops/cuda/cudnn/graph_stand_in.h"
#include "ops/cuda/cudnn/left_by_threads.h"
#include "ops/cuda/cudnn/plan_key.h"
#include "ops/cuda/proposal_stand_in.h"
#include "runtime/gpu_graph.h"

namespace torus::cuda {
namespace {

constexpr size_t kMostPlans = 1024;

// What run_graph.cu does with cuDNN's proposals. All proposals are the runner.
void Choose(const Graph& graph, const EngineRules& rules, Device device) {
  if (WithPlans::Current() == nullptr) return;
  auto& plans = LeftByThreads<PlanCache<int64_t>>::Of(
      device.index, [] { return std::make_unique<PlanCache<int64_t>>(kMostPlans); });
  const std::string what = TextOf(graph, rules);
  const auto plan = plans.Get(KeyOf(graph, rules, CurrentPlansId()), [&] {
    const bool records = GpuGraph::RecordedHere(device) != nullptr;
    return std::make_shared<const int64_t>(ChooseFake(what, !records));
  });
  NoteTaken(what, *plan);
}

}  // namespace

bool RunGraph(const Graph& graph, const EngineRules& rules, GraphAddresses addresses, Device device,
              StreamHandle stream) {
  const GraphRunner& run = GraphStandIn::Current();
  if (run != nullptr && run(graph, rules, addresses, device, stream)) {
    Choose(graph, rules, device);
    return true;
  }
  if (WithPlans::Current() != nullptr) CountFallback(DescribeGraph(graph));
  return false;
}

}  // namespace torus::cuda
