#include "ops/cuda/cudnn/plan.h"
#include "tests/ops/cuda/cudnn/plan_probe.h"

namespace torus::testing {
namespace {

// An H100 as cuDNN writes it down (CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION).
constexpr std::string_view kHopper = R"({
  "deviceVer": 900, "multiProcessorCount": 132, "warpSize": 32,
  "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448,
  "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536, "maxCtasPerSM": 32,
  "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "regsPerBlock": 65536,
  "totalGlobalMem": 84942979072, "smClockRateKHz": 1980000, "l2CacheSize": 52428800,
  "maxBlockSize": [1024, 1024, 64], "memClockRateKHz": 2619000,
  "maxGridSize": [2147483647, 65535, 65535], "supportCoopLaunch": 1, "pciDeviceId": 0,
  "isTccDriver": 0, "cudaDeviceId": 0, "driverVer": 13000, "deviceName": "NVIDIA H100 80GB HBM3"
})";

}  // namespace

ProbedPlan PlanForHopper(const cuda::Graph& graph, const cuda::EngineRules& rules,
                         const cuda::PlanQuestion& question,
                         const std::function<double(const std::string&)>& seconds) {
  const cuda::Descriptor hopper = cuda::PropertiesFrom(kHopper);
  const auto time = [&](const cuda::ExecutionPlan& plan) {
    return seconds(cuda::TextOf(*plan.engine));
  };
  const auto plan = cuda::FindPlan(graph, rules, hopper, {question, time});
  if (plan == nullptr) return {};
  return {true, plan->workspace, cuda::NotesOf(*plan->engine), cuda::TextOf(*plan->engine)};
}

bool IsGraphOfCudnn(const cuda::Graph& graph) try {
  const cuda::LoweredGraph lowered(graph);
  return true;
} catch (const cuda::NotSupported&) {
  return false;
}

}  // namespace torus::testing
