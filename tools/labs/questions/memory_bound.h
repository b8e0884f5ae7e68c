// MemoryBound: limits the memory of a device that tensors may take, while it lives.
#pragma once

#include <cstdint>
#include <functional>

#include "runtime/device.h"

namespace torus::labs {

class MemoryBound {
 public:
  // `bytes` 0 keeps the allocator's own limit.
  MemoryBound(Device device, uint64_t bytes);
  ~MemoryBound();
  MemoryBound(const MemoryBound&) = delete;
  MemoryBound& operator=(const MemoryBound&) = delete;

  // Runs `work`; returns false if it ran out of memory, and throws other errors. Sets `peak` to the
  // most bytes that tensors took at once.
  bool Holds(const std::function<void()>& work, uint64_t& peak) const;

 private:
  const Device device_;
  const uint64_t before_;
};

}  // namespace torus::labs
