#include <memory>
#include <string>

#include "ops/cuda/cudnn/left_by_threads.h"
#include "ops/cuda/cudnn/plan.h"
#include "ops/cuda/cudnn/plan_key.h"
#include "ops/cuda/cudnn/run_graph.h"
#include "runtime/error.h"
#include "runtime/gpu_graph.h"
//
#include "ops/cuda/gpu_seconds.h"

namespace torus::cuda {
namespace {

constexpr size_t kMostPlans = 1024;  // of a thread, for one device
// Needed to find plans from a device's properties alone (9.11), and for attention's gradient with
// any number of keys (9.16).
constexpr size_t kOldestVersion = 91600;

// The per-thread state for one GPU, which must be the thread's current one when this is created.
struct ThreadLibrary {
  explicit ThreadLibrary(Device device) : properties(PropertiesOf(device)) {
    CheckCudnn(cudnnCreate(&handle), "cudnnCreate");
  }
  ThreadLibrary(const ThreadLibrary&) = delete;
  ThreadLibrary& operator=(const ThreadLibrary&) = delete;

  cudnnHandle_t handle = nullptr;
  Descriptor properties;
  PlanCache<ExecutionPlan> plans{kMostPlans};
};

void CheckVersion() {
  const size_t version = cudnnGetVersion();
  if (version < kOldestVersion)
    Throw<BrokenEnvironment>("cudnn", "needs version {} or later, found {}", kOldestVersion,
                             version);
}

ThreadLibrary& LibraryOf(Device device) {
  return LeftByThreads<ThreadLibrary>::Of(device.index, [&] {
    CheckVersion();
    return std::make_unique<ThreadLibrary>(device);
  });
}

// The plans that the calling thread follows decide. Times proposals, if it comes to that, with the
// graph's own tensors: outputs are overwritten by each run.
std::shared_ptr<const ExecutionPlan> ChosenPlan(const Graph& graph, const EngineRules& rules,
                                                GraphAddresses addresses, Device device,
                                                StreamHandle stream, ThreadLibrary& library) {
  Plans* const plans = WithPlans::Current();
  const bool records = GpuGraph::RecordedHere(device) != nullptr;
  const auto seconds = [&](const ExecutionPlan& plan) {
    return GpuSeconds(stream, [&] { RunPlan(plan, graph, addresses, library.handle, device); });
  };
  const std::string what = plans == nullptr ? "" : TextOf(graph, rules);
  auto plan = FindPlan(graph, rules, library.properties, {{what, plans, !records}, seconds});
  if (plans != nullptr && plan != nullptr && plan->compiled) ++plans->counts().compiled;
  return plan;
}

}  // namespace

bool RunGraph(const Graph& graph, const EngineRules& rules, GraphAddresses addresses, Device device,
              StreamHandle stream) {
  ThreadLibrary& library = LibraryOf(device);
  CheckCudnn(cudnnSetStream(library.handle, static_cast<cudaStream_t>(stream)), "cudnnSetStream");
  const auto plan = library.plans.Get(KeyOf(graph, rules, CurrentPlansId()), [&] {
    return ChosenPlan(graph, rules, addresses, device, stream, library);
  });
  if (plan == nullptr) {
    if (WithPlans::Current() != nullptr) CountFallback(DescribeGraph(graph));
    return false;
  }
  RunPlan(*plan, graph, addresses, library.handle, device);
  return true;
}

}  // namespace torus::cuda
