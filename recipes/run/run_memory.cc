#include "recipes/run/run_memory.h"

#include "runtime/error.h"
#include "runtime/stream.h"

namespace torus::recipes {

RunMemory::RunMemory(DeviceKind device) : account_(MemoryAccount::Current()) {
  TORUS_CHECK(account_ != nullptr, "a run has no account");
  account_->ResetPeak();
  const int count = device == DeviceKind::kCpu ? 1 : GpuCount();
  for (int i = 0; i < count; ++i) devices_.push_back({device, i});
}

MemoryStats RunMemory::stats() const {
  MemoryStats sum;
  for (const Device device : devices_) {
    const MemoryStats own = account_->stats(device), all = AllocatorFor(device).stats();
    sum.live_bytes += own.live_bytes;
    sum.peak_bytes += own.peak_bytes;
    sum.held_bytes += all.held_bytes;
    sum.limit_bytes += own.limit_bytes > 0 ? own.limit_bytes : all.limit_bytes;
  }
  return sum;
}

}  // namespace torus::recipes
