#include "runtime/storage.h"

#include <utility>

#include "runtime/allocator.h"

namespace torus {

namespace {

bool HasMemory(Device device) { return device.kind != DeviceKind::kMeta; }

}  // namespace

Storage::Storage(size_t bytes, Device device)
    : data_(HasMemory(device) ? AllocatorFor(device).Allocate(bytes, &began_zero_) : nullptr),
      bytes_(bytes),
      device_(device) {}

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
