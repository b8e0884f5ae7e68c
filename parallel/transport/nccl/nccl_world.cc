#include "parallel/transport/nccl/nccl_world.h"

#include <algorithm>
#include <utility>

#include "runtime/error.h"
#include "runtime/stream.h"

namespace torus::parallel {

Device GpuOfRank(const Transport& transport) {
  const std::vector<int> here = transport.SameHost();
  const auto index = std::ranges::find(here, transport.rank()) - here.begin();
  Require(index < GpuCount(), "transport",
          "rank {} is number {} of its host's {} ranks and needs a GPU of its own: {} can be used",
          transport.rank(), index, here.size(), GpuCount());
  return {DeviceKind::kCuda, static_cast<int>(index)};
}

NcclTransport& NcclWorld::TransportOf(Transport& inner) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = transports_.find(inner.rank());
    if (found != transports_.end()) return *found->second;
  }
  auto made = std::make_unique<NcclTransport>(
      inner, library_, NcclOptions{.device = device_(inner), .timeout = timeout_});
  const std::lock_guard lock(mutex_);
  return *(transports_[inner.rank()] = std::move(made));
}

void NcclWorld::Run(const std::function<void(Transport&)>& fn) {
  inner_.Run([this, fn](Transport& inner) {
    NcclTransport& transport = TransportOf(inner);
    fn(transport);
    transport.Finish();
  });
}

}  // namespace torus::parallel
