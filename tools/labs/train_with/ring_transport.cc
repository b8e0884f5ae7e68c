#include "tools/labs/train_with/ring_transport.h"

#include <fmt/ranges.h>

#include <utility>

#include "parallel/collectives/ring.h"
#include "runtime/error.h"

namespace torus::tools::labs {

RingTransport::RingTransport(parallel::Transport& inner, std::unique_ptr<parallel::Transport> link,
                             RingFunction function, RingCounts& counts, Shared shared)
    : DecoratedTransport(link ? *link : inner),
      inner_(inner),
      link_(std::move(link)),
      function_(function),
      counts_(counts),
      shared_(shared) {}

parallel::Engine* RingTransport::EngineOf(const std::vector<int>& members) {
  Require(static_cast<int>(members.size()) == size(), "ring",
          "a ring is of all {} ranks, got the ranks {}", size(), fmt::join(members, ", "));
  return this;
}

void RingTransport::Mean(std::span<float> values, const std::string& what) {
  if (function_ != nullptr)
    return RingWire(*this, inner_, counts_, shared_.watch, what).AllReduceMean(function_, values);
  parallel::RingAllReduce<float>(*this, values, what);
  for (float& value : values) value /= static_cast<float>(size());
  ++counts_.sums;
}

parallel::Pending RingTransport::AllReduce(parallel::Buffer data, DType dtype, std::string what) {
  Require(dtype == DType::kF32 && data.device.kind == DeviceKind::kCpu, "ring",
          "sums f32 in the CPU's memory, got {} on {} ({})", Name(dtype), data.device, what);
  const std::span<float> values(static_cast<float*>(data.data), data.bytes / sizeof(float));
  const int64_t number = counts_.sums;
  shared_.check.HandIn(rank(), number, values);
  const float n = static_cast<float>(size());
  for (float& value : values) value *= n;
  Mean(values, what);
  shared_.check.Look(rank(), number, values, what);
  return {};
}

}  // namespace torus::tools::labs
