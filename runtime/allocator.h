// Caching allocators. They keep freed blocks for later requests of the same size class, because
// page faults on fresh activations cost as much as the convolutions that fill them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/device.h"

namespace torus {

// Bytes of an allocator.
struct MemoryStats {
  size_t live_bytes = 0;     // handed out now
  size_t peak_bytes = 0;     // most ever handed out at once since the last ResetPeak
  size_t held_bytes = 0;     // taken from the system, live or cached
  size_t limit_bytes = 0;    // most to hold; 0 means no limit
  uint64_t allocations = 0;  // blocks handed out so far
};

// Thread-safe. Blocks are aligned to 64 bytes; large ones use huge pages.
class Allocator {
 public:
  virtual ~Allocator() = default;
  // Returns a block, never null, even for 0 bytes. Throws BrokenEnvironment with the bytes
  // requested, held and allowed if there is no memory. Sets `zeros`, if given, to whether the whole
  // block is known to be zero.
  virtual void* Allocate(size_t bytes, bool* zeros = nullptr) = 0;
  // Like Allocate, but returns null if there is no memory.
  virtual void* TryAllocate(size_t bytes, bool* zeros = nullptr) = 0;
  // `bytes` must be what was passed to Allocate.
  virtual void Free(void* block, size_t bytes) noexcept = 0;
  // Bytes at this moment.
  virtual MemoryStats stats() const = 0;
  // Sets peak_bytes to live_bytes.
  virtual void ResetPeak() = 0;
  // Sets the most bytes to hold from the system; 0 means no limit. Cached blocks are given back
  // before a request fails. The CPU's limit starts at seven eighths of SystemMemory(): without a
  // limit, requests of ever new sizes would fill the cache until the system kills the process.
  virtual void SetLimit(size_t bytes) = 0;
  // Gives cached blocks back to the system.
  virtual void ReleaseCached() = 0;
};

// The process's allocator for a device; it lives until the process ends. Throws BadInput for a
// device that this build does not support.
Allocator& AllocatorFor(Device device);

// The allocator of pinned CPU memory, which GPUs copy from and to asynchronously, while the CPU
// continues. A freed block is handed out again at once, so free it only after the copies that use
// it are done (runtime/uploader.h ensures that). Throws BadInput in a build without CUDA. Its
// Allocate throws BrokenEnvironment until a thread has used a GPU.
Allocator& PinnedAllocator();

}  // namespace torus
