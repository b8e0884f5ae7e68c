#include "runtime/allocator_source.h"

#include <utility>

namespace torus {

AllocatorSource::AllocatorSource(Allocator& from, std::string name)
    : from_(from), name_(std::move(name)) {}

// The counts before are those of the pool alone.
std::string AllocatorSource::Shortage() const {
  const MemoryStats all = from_.stats();
  return "and of the device's " + InMiB(all.live_bytes) + " live, " + InMiB(all.held_bytes) +
         " held" + (all.limit_bytes == 0 ? "" : ", limit " + InMiB(all.limit_bytes));
}

}  // namespace torus
