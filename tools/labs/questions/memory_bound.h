// MemoryBound: what tensors may take of a device's memory, until it is destroyed.
#pragma once

#include <cstdint>
#include <functional>

#include "runtime/device.h"

namespace torus::labs {

class MemoryBound {
 public:
  // 0: leaves the allocator's own limit.
  MemoryBound(Device device, uint64_t bytes);
  ~MemoryBound();
  MemoryBound(const MemoryBound&) = delete;
  MemoryBound& operator=(const MemoryBound&) = delete;

  // Runs `work`; false where the memory did not suffice. Other errors are thrown. `peak` becomes
  // the most bytes that tensors had at once.
  bool Holds(const std::function<void()>& work, uint64_t& peak) const;

 private:
  const Device device_;
  const uint64_t before_;
};

}  // namespace torus::labs
