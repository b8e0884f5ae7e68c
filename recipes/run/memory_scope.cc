#include "recipes/run/memory_scope.h"

#include "runtime/stream.h"

namespace torus::recipes {

MemoryScope::MemoryScope(DeviceKind device, uint64_t limit) : device_(device) {
  std::vector<Device> devices{Device{}};
  if (device != DeviceKind::kCpu)
    for (int gpu = 0; gpu < GpuCount(); ++gpu) devices.push_back({device, gpu});
  for (const Device each : devices) {
    Allocator& allocator = AllocatorFor(each);
    before_.emplace_back(each, allocator.stats().limit_bytes);
    allocator.ReleaseCached();  // else what an earlier run has left counts as held by this one
    if (limit > 0) allocator.SetLimit(limit);
    allocator.ResetPeak();
  }
}

MemoryScope::~MemoryScope() {
  for (const auto& [device, limit] : before_) AllocatorFor(device).SetLimit(limit);
}

MemoryStats MemoryScope::stats() const {
  MemoryStats sum;
  for (const auto& [device, limit] : before_) {
    if (device.kind != device_) continue;
    const MemoryStats own = AllocatorFor(device).stats();
    sum.live_bytes += own.live_bytes;
    sum.peak_bytes += own.peak_bytes;
    sum.held_bytes += own.held_bytes;
    sum.limit_bytes += own.limit_bytes;
    sum.allocations += own.allocations;
  }
  return sum;
}

}  // namespace torus::recipes
