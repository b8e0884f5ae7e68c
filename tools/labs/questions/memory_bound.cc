#include "tools/labs/questions/memory_bound.h"

#include <string_view>

#include "runtime/allocator.h"
#include "runtime/error.h"

namespace torus::labs {

MemoryBound::MemoryBound(Device device, uint64_t bytes)
    : device_(device), before_(AllocatorFor(device).stats().limit_bytes) {
  AllocatorFor(device).ReleaseCached();
  if (bytes > 0) AllocatorFor(device).SetLimit(bytes);
}

MemoryBound::~MemoryBound() { AllocatorFor(device_).SetLimit(before_); }

// The allocator's error keeps its type and its text on its way through ranks and loader.
bool MemoryBound::Holds(const std::function<void()>& work, uint64_t& peak) const {
  Allocator& allocator = AllocatorFor(device_);
  allocator.ReleaseCached();
  allocator.ResetPeak();
  bool held = true;
  try {
    work();
  } catch (const BrokenEnvironment& error) {
    if (std::string_view(error.what()).find("out of memory") == std::string_view::npos) throw;
    held = false;
  }
  peak = allocator.stats().peak_bytes;
  return held;
}

}  // namespace torus::labs
