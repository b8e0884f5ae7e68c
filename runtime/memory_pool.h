// MemoryPool: memory that only allocations inside a WithPool scope of the calling thread use.
//
// A recorded CUDA graph uses fixed addresses for as long as it is launched. Its memory must not
// come from the caching allocator, which would hand it out again between two launches.
//
//   const auto pool = std::make_shared<MemoryPool>(gpu);
//   const WithPool with(pool);  // tensors of that GPU that are made from here on are the pool's
#pragma once

#include <cstddef>
#include <memory>

#include "runtime/allocator.h"
#include "runtime/device.h"

namespace torus {

// Freed blocks serve later requests of the pool, as in a caching allocator. All blocks return to
// the device's allocator, which counts them as live until then, once the pool and all its blocks
// have been released: not before, even in a shortage, because recorded work still uses them.
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  // Throws BadInput like AllocatorFor.
  explicit MemoryPool(Device device);
  Device device() const { return device_; }  // of all blocks
  // Returns a block, which returns to the pool with its last owner. Throws BrokenEnvironment like
  // Allocator::Allocate. The pool must be owned by a shared_ptr.
  std::shared_ptr<const void> Take(size_t bytes);
  // Bytes of all blocks, in use or not.
  size_t held_bytes() const { return blocks_->stats().held_bytes; }

 private:
  const Device device_;
  const std::unique_ptr<Allocator> blocks_;
};

// While one exists, the calling thread's allocations on the pool's device come from the pool. With
// null, its allocations on every device come from the device's allocator again.
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

// The calling thread's pool for a device, from the innermost WithPool; null without one.
MemoryPool* PoolHere(Device device);

}  // namespace torus
