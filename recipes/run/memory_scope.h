// MemoryScope: the tensors' memory while one run lasts: its limit, and how much it takes.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/allocator.h"
#include "runtime/device.h"

namespace torus::recipes {

// The allocators are the process's: what an application keeps beside the run counts too, and of two
// runs at a time the limit of the later one holds.
class MemoryScope {
 public:
  // Of a run on this kind of device; on GPUs it counts all of this process's, which its ranks take
  // in turn. Until it ends, the CPU and each of these GPUs hold at most `limit` bytes; 0: as many
  // as before. Peaks are counted anew.
  MemoryScope(DeviceKind device, uint64_t limit);
  ~MemoryScope();  // the limits are as before
  MemoryScope(const MemoryScope&) = delete;
  MemoryScope& operator=(const MemoryScope&) = delete;

  // Of the run's device; sums over several GPUs, whose peaks need not have been at the same time.
  MemoryStats stats() const;

 private:
  const DeviceKind device_;
  std::vector<std::pair<Device, size_t>> before_;  // limits
};

}  // namespace torus::recipes
