#include "parallel/transport/rank_gpu.h"

#include <algorithm>

#include "runtime/error.h"
#include "runtime/stream.h"

namespace torus::parallel {

Device GpuInTurn(const Transport& transport) {
  Require(GpuCount() > 0, "transport", "device cuda: {}", WhyNoGpu());
  const std::vector<int> here = transport.SameHost();
  const auto place = static_cast<int>(std::ranges::find(here, transport.rank()) - here.begin());
  return {DeviceKind::kCuda, place % GpuCount()};
}

}  // namespace torus::parallel
