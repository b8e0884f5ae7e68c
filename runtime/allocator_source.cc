#include "runtime/allocator_source.h"

namespace torus {

AllocatorSource::AllocatorSource(Allocator& from, Device device)
    : from_(from), device_(device), account_(MemoryAccount::Current()) {}

void* AllocatorSource::Take(size_t bytes) {
  if (account_ != nullptr && !account_->TryCharge(device_, bytes)) return nullptr;
  void* block = nullptr;
  try {
    block = from_.TryAllocate(bytes);
  } catch (...) {
    if (account_ != nullptr) account_->Credit(device_, bytes);
    throw;
  }
  if (block == nullptr && account_ != nullptr) account_->Credit(device_, bytes);
  return block;
}

void AllocatorSource::Give(void* block, size_t bytes) noexcept {
  from_.Free(block, bytes);
  if (account_ != nullptr) account_->Credit(device_, bytes);
}

// The counts before are those of the pool alone.
std::string AllocatorSource::Shortage() const {
  const MemoryStats all = from_.stats();
  const MemoryStats run = account_ == nullptr ? MemoryStats() : account_->stats(device_);
  const std::string of_run = run.limit_bytes == 0
                                 ? ""
                                 : "of the run's " + InMiB(run.live_bytes) + " live, limit " +
                                       InMiB(run.limit_bytes) + ", ";
  return of_run + "and of the device's " + InMiB(all.live_bytes) + " live, " +
         InMiB(all.held_bytes) + " held" +
         (all.limit_bytes == 0 ? "" : ", limit " + InMiB(all.limit_bytes));
}

}  // namespace torus
