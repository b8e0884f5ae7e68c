#include "runtime/storage.h"

#include "runtime/allocator.h"

namespace torus {

Storage::Storage(size_t bytes, Device device)
    : data_(AllocatorFor(device).Allocate(bytes, &began_zero_)), bytes_(bytes), device_(device) {}

Storage::Storage(void* data, size_t bytes, Device device, std::shared_ptr<const void> owner)
    : data_(data), bytes_(bytes), device_(device), owner_(std::move(owner)) {}

Storage::~Storage() {
  if (owner_ == nullptr) AllocatorFor(device_).Free(data_, bytes_);
}

}  // namespace torus
