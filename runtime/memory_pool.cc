#include "runtime/memory_pool.h"

#include <utility>

#include "runtime/allocator_source.h"

namespace torus {
namespace {

thread_local const WithPool* innermost = nullptr;  // of the calling thread

}  // namespace

MemoryPool::MemoryPool(Device device)
    : device_(device),
      blocks_(AllocatorOver(std::make_unique<AllocatorSource>(AllocatorFor(device), device),
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
