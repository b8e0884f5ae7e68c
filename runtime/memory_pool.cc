#include "runtime/memory_pool.h"

#include <string>
#include <utility>

#include "runtime/memory_source.h"

namespace torus {
namespace {

thread_local const WithPool* innermost = nullptr;  // of the calling thread

// Takes from the device's allocator.
class AllocatorSource : public MemorySource {
 public:
  explicit AllocatorSource(Device device) : device_(device) {}
  std::string Name() const override { return ToString(device_); }
  void* Take(size_t bytes) override { return AllocatorFor(device_).Allocate(bytes); }
  void Give(void* block, size_t bytes) noexcept override {
    AllocatorFor(device_).Free(block, bytes);
  }

 private:
  const Device device_;
};

}  // namespace

MemoryPool::MemoryPool(Device device)
    : device_(device),
      blocks_(AllocatorOver(std::make_unique<AllocatorSource>(device),
                            device.kind == DeviceKind::kCuda)) {}

std::shared_ptr<const void> MemoryPool::Take(size_t bytes) {
  void* const block = blocks_->Allocate(bytes);
  return {block, [pool = shared_from_this(), bytes](const void* b) {
            pool->blocks_->Free(const_cast<void*>(b), bytes);
          }};
}

WithPool::WithPool(std::shared_ptr<MemoryPool> pool) : pool_(std::move(pool)), before_(innermost) {
  innermost = this;
}

WithPool::~WithPool() { innermost = before_; }

MemoryPool* PoolHere(Device device) {
  for (const WithPool* with = innermost; with != nullptr; with = with->before_)
    if (with->pool_ == nullptr || with->pool_->device() == device) return with->pool_.get();
  return nullptr;
}

}  // namespace torus
