#include "runtime/storage.h"

#include <utility>

#include "runtime/allocator.h"
#include "runtime/memory_account.h"
#include "runtime/memory_pool.h"

namespace torus {

namespace {

bool HasMemory(Device device) { return device.kind != DeviceKind::kMeta; }

// A block that is charged to an account: the owner of its storage's memory.
class ChargedBlock {
 public:
  ChargedBlock(std::shared_ptr<MemoryAccount> account, size_t bytes, Device device, bool* zeros)
      : allocator_(AllocatorFor(device)),
        account_(std::move(account)),
        bytes_(bytes),
        device_(device) {
    account_->Charge(device, bytes);
    try {
      data_ = allocator_.Allocate(bytes, zeros);
    } catch (...) {
      account_->Credit(device, bytes);
      throw;
    }
  }
  ~ChargedBlock() {
    allocator_.Free(data_, bytes_);
    account_->Credit(device_, bytes_);
  }
  ChargedBlock(const ChargedBlock&) = delete;
  ChargedBlock& operator=(const ChargedBlock&) = delete;

  void* data() const { return data_; }

 private:
  Allocator& allocator_;  // first: an account has no count of a device without one
  const std::shared_ptr<MemoryAccount> account_;
  const size_t bytes_;
  const Device device_;
  void* data_ = nullptr;
};

}  // namespace

Storage::Storage(size_t bytes, Device device) : bytes_(bytes), device_(device) {
  if (MemoryPool* pool = PoolHere(device)) {
    owner_ = pool->Take(bytes);
    data_ = const_cast<void*>(owner_.get());
  } else if (!HasMemory(device)) {
    return;
  } else if (std::shared_ptr<MemoryAccount> account = MemoryAccount::Current()) {
    const auto block =
        std::make_shared<ChargedBlock>(std::move(account), bytes, device, &began_zero_);
    data_ = block->data();
    owner_ = block;
  } else {
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
