#include "recipes/settings/device.h"

#include "runtime/error.h"
#include "runtime/stream.h"

namespace torus::recipes {

Device CheckedDevice(std::string_view where, const std::string& device) {
  Require(device == "cpu" || device == "cuda", where, "--device must be one of cpu, cuda, got {}",
          device);
  if (device == "cpu") return {};
  Require(GpuCount() > 0, where, "--device cuda: {}", WhyNoGpu());
  return {DeviceKind::kCuda, 0};
}

}  // namespace torus::recipes
