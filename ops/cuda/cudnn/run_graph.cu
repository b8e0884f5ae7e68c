#include <memory>

#include "ops/cuda/cudnn/left_by_threads.h"
#include "ops/cuda/cudnn/plan.h"
#include "ops/cuda/cudnn/plan_key.h"
#include "ops/cuda/cudnn/run_graph.h"
#include "runtime/error.h"

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

}  // namespace

bool RunGraph(const Graph& graph, const EngineRules& rules, GraphAddresses addresses, Device device,
              StreamHandle stream) {
  ThreadLibrary& library = LibraryOf(device);
  const auto plan = library.plans.Get(KeyOf(graph, rules),
                                      [&] { return FindPlan(graph, rules, library.properties); });
  if (plan == nullptr) return false;
  CheckCudnn(cudnnSetStream(library.handle, static_cast<cudaStream_t>(stream)), "cudnnSetStream");
  RunPlan(*plan, graph, addresses, library.handle, device);
  return true;
}

}  // namespace torus::cuda
