// A reference-counted block of memory that tensors share, with the version that detects changes to
// saved tensors.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/device.h"

namespace torus {

// Memory from the device's caching allocator, or from the calling thread's pool (memory_pool.h), or
// borrowed. It is freed with the last tensor that shares it.
class Storage {
 public:
  // Allocates `bytes` on `device` (nothing on meta, where data() is null). Throws BrokenEnvironment
  // if there is no memory left.
  Storage(size_t bytes, Device device);
  // Borrows memory that `owner` keeps alive (a mapped file, a user's buffer).
  Storage(void* data, size_t bytes, Device device, std::shared_ptr<const void> owner);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  // Exchanges memory, size and device, which all tensors that share either storage see. Both
  // versions increase.
  void Swap(Storage& other) noexcept;

  void* data() const { return data_; }       // null on meta
  size_t bytes() const { return bytes_; }    // of the memory
  Device device() const { return device_; }  // where it is
  // Whether the memory came fresh from the system, and so is zero until written.
  bool began_zero() const { return began_zero_; }

  // The number of requests to write. A tensor saved for a backward remembers it.
  uint64_t version() const { return version_.load(std::memory_order_relaxed); }
  // Counts a request to write.
  void BumpVersion() { version_.fetch_add(1, std::memory_order_relaxed); }

 private:
  bool began_zero_ = false;
  void* data_ = nullptr;
  size_t bytes_ = 0;
  Device device_;
  std::shared_ptr<const void> owner_;  // null if the allocator owns the memory
  std::atomic<uint64_t> version_{0};
};

}  // namespace torus
