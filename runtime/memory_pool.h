// MemoryPool: memory for those who ask while the calling thread says so, and for no one else.
//
// What a recorded graph of CUDA's works on must lie where it lay when it was recorded, as long as
// the graph is launched: so its memory must not come from the caching allocator, which would hand
// it to others between two launches.
//
//   const auto pool = std::make_shared<MemoryPool>(gpu);
//   const WithPool with(pool);  // tensors of that GPU that are made from here on are the pool's
#pragma once

#include <cstddef>
#include <memory>

#include "runtime/caching_allocator.h"
#include "runtime/device.h"

namespace torus {

// Blocks that are freed serve the pool's next requests, like a caching allocator's; all go back to
// the device's allocator, which counts them as live, when the pool and the last of its blocks have
// gone.
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  explicit MemoryPool(Device device);
  Device device() const { return device_; }
  // A block that goes back with its last owner. BrokenEnvironment as Allocator::Allocate. The pool
  // must be owned by a shared_ptr.
  std::shared_ptr<const void> Take(size_t bytes);
  // Of all blocks, handed out or not.
  size_t held_bytes() const { return blocks_.stats().held_bytes; }

 private:
  const Device device_;
  CachingAllocator blocks_;
};

// While one lives, what the calling thread allocates on the pool's device comes from it; with null,
// what it allocates on any device comes from the device's allocator again.
class WithPool {
 public:
  explicit WithPool(std::shared_ptr<MemoryPool> pool);
  ~WithPool();
  WithPool(const WithPool&) = delete;
  WithPool& operator=(const WithPool&) = delete;

 private:
  const std::shared_ptr<MemoryPool> pool_;
  const WithPool* before_;
  friend MemoryPool* PoolHere(Device device);
};

// The calling thread's pool for a device, of the innermost WithPool; null without one.
MemoryPool* PoolHere(Device device);

}  // namespace torus
