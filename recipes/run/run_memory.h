// RunMemory: how much memory the tensors of one run take on its device.
#pragma once

#include <memory>
#include <vector>

#include "runtime/allocator.h"
#include "runtime/device.h"
#include "runtime/memory_account.h"

namespace torus::recipes {

class RunMemory {
 public:
  // Of the run whose account is the calling thread's, on this kind of device; on GPUs it counts all
  // of this process's, which its ranks take in turn. Peaks are counted anew.
  explicit RunMemory(DeviceKind device);

  // Sums over several GPUs, whose peaks need not have been at the same time. Live bytes, peak and
  // limit are the run's (without a limit of its own, the allocators'); held bytes are what the
  // allocators have taken from the system for the whole process.
  MemoryStats stats() const;

 private:
  const std::shared_ptr<MemoryAccount> account_;
  std::vector<Device> devices_;
};

}  // namespace torus::recipes
