#include "runtime/storage.h"

#include <utility>

#include "runtime/allocator.h"
#include "runtime/memory_pool.h"

namespace torus {

namespace {

bool HasMemory(Device device) { return device.kind != DeviceKind::kMeta; }

}  // namespace

Storage::Storage(size_t bytes, Device device) : bytes_(bytes), device_(device) {
  if (MemoryPool* pool = PoolHere(device)) {
    owner_ = pool->Take(bytes);
    data_ = const_cast<void*>(owner_.get());
  } else if (HasMemory(device)) {
    data_ = AllocatorFor(device).Allocate(bytes, &began_zero_);
  }
}

Storage::Storage(void* data, size_t bytes, Device device, std::shared_ptr<const void> owner)
    : data_(data), bytes_(bytes), device_(device), owner_(std::move(owner)) {}

Storage::~Storage() {
  if (owner_ == nullptr && HasMemory(device_)) AllocatorFor(device_).Free(data_, bytes_);
}

void Storage::Swap(Storage& other) noexcept {
  std::swap(began_zero_, other.began_zero_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(device_, other.device_);
  std::swap(owner_, other.owner_);
  BumpVersion();
  other.BumpVersion();
}

}  // namespace torus
