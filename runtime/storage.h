// A counted block of memory that tensors share, with the version that guards saved tensors.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/device.h"

namespace torus {

// Memory from the device's caching allocator (or borrowed, or of the calling thread's pool:
// memory_pool.h), freed with the last tensor that shares it.
class Storage {
 public:
  // Takes `bytes` from the allocator of `device` (nothing on meta, where data() is null);
  // BrokenEnvironment when there is no more.
  Storage(size_t bytes, Device device);
  // Borrows memory that `owner` keeps alive (a mapped file, a user's buffer).
  Storage(void* data, size_t bytes, Device device, std::shared_ptr<const void> owner);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  // Exchanges memory, size and device; the tensors that share either see it. Both versions go on.
  void Swap(Storage& other) noexcept;

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  Device device() const { return device_; }
  // Whether the memory was fresh from the system when it was taken, and so is zero until written.
  bool began_zero() const { return began_zero_; }

  // Counts the times that someone asked to write. A tensor saved for a backward remembers it.
  uint64_t version() const { return version_.load(std::memory_order_relaxed); }
  void BumpVersion() { version_.fetch_add(1, std::memory_order_relaxed); }

 private:
  bool began_zero_ = false;
  void* data_ = nullptr;
  size_t bytes_ = 0;
  Device device_;
  std::shared_ptr<const void> owner_;  // null where the allocator owns
  std::atomic<uint64_t> version_{0};
};

}  // namespace torus
