// Caching allocators: freed blocks are kept for the next request of their size class, because the
// page faults of fresh activations cost as much as the convolutions that fill them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/device.h"

namespace torus {

struct MemoryStats {
  size_t live_bytes = 0;   // handed out now
  size_t peak_bytes = 0;   // most ever handed out at once since the last ResetPeak
  size_t held_bytes = 0;   // taken from the system: live and cached
  size_t limit_bytes = 0;  // most to hold; 0 is without limit
  uint64_t allocations = 0;
};

// Thread-safe. Blocks are aligned to 64 bytes; large ones lie on huge pages.
class Allocator {
 public:
  virtual ~Allocator() = default;
  // Never null, also for 0 bytes. BrokenEnvironment with what was asked, held and allowed when it
  // cannot be had. `zeros`, where given, becomes whether all of the block is known to be zero.
  virtual void* Allocate(size_t bytes, bool* zeros = nullptr) = 0;
  // `bytes` as at Allocate.
  virtual void Free(void* block, size_t bytes) noexcept = 0;
  virtual MemoryStats stats() const = 0;
  virtual void ResetPeak() = 0;
  // Most bytes to hold from the system; 0 is without limit. Cached blocks are given back before a
  // request fails. A CPU's limit is at first seven eighths of SystemMemory(): without one, blocks
  // of ever new sizes would be cached until the system ends the process.
  virtual void SetLimit(size_t bytes) = 0;
  // Gives cached blocks back to the system.
  virtual void ReleaseCached() = 0;
};

// The process's allocator of a device; lives until the process ends. BadInput for a device this
// build has not.
Allocator& AllocatorFor(Device device);

// Of memory of the CPU's that is pinned: GPUs copy from and to it by themselves, while the CPU goes
// on. A block that is freed is handed out again, so it may be freed only behind its copies
// (runtime/upload.h sees to that). BadInput in a build without CUDA.
Allocator& PinnedAllocator();

}  // namespace torus
