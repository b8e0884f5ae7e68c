#include "runtime/memory_account.h"

#include <utility>

#include "runtime/error.h"
#include "runtime/memory_source.h"

namespace torus {
namespace {

thread_local const std::shared_ptr<MemoryAccount>* innermost = nullptr;  // of the calling thread

}  // namespace

MemoryAccount::MemoryAccount(size_t limit) : limit_(limit), within_(Current()) {}

std::shared_ptr<MemoryAccount> MemoryAccount::Current() {
  return innermost == nullptr ? nullptr : *innermost;
}

size_t MemoryAccount::IndexOf(Device device) {
  return device.kind == DeviceKind::kCpu ? 0 : 1 + static_cast<size_t>(device.index);
}

// The count never exceeds the limit, not even briefly: a request that is refused must not make
// another thread's request fail.
bool MemoryAccount::Add(Count& count, size_t bytes) {
  size_t live = count.live.load(std::memory_order_relaxed);
  do {
    if (limit_ != 0 && (bytes > limit_ || live > limit_ - bytes)) return false;
  } while (!count.live.compare_exchange_weak(live, live + bytes, std::memory_order_relaxed));
  live += bytes;
  size_t peak = count.peak.load(std::memory_order_relaxed);
  while (live > peak && !count.peak.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
  }
  return true;
}

bool MemoryAccount::TryCharge(Device device, size_t bytes) {
  if (within_ != nullptr && !within_->TryCharge(device, bytes)) return false;
  if (Add(counts_[IndexOf(device)], bytes)) return true;
  if (within_ != nullptr) within_->Credit(device, bytes);
  return false;
}

void MemoryAccount::Charge(Device device, size_t bytes) {
  if (!TryCharge(device, bytes)) FailOverLimit(device, bytes);
}

void MemoryAccount::Credit(Device device, size_t bytes) noexcept {
  for (MemoryAccount* one = this; one != nullptr; one = one->within_.get())
    one->counts_[IndexOf(device)].live.fetch_sub(bytes, std::memory_order_relaxed);
}

// Names the innermost account that refuses.
void MemoryAccount::FailOverLimit(Device device, size_t bytes) const {
  const MemoryStats now = stats(device);
  const bool here = limit_ != 0 && (bytes > limit_ || now.live_bytes > limit_ - bytes);
  if (!here && within_ != nullptr) within_->FailOverLimit(device, bytes);
  Throw<BrokenEnvironment>("allocator",
                           "out of memory on {}: asked for {}, {} live in this run, "
                           "whose limit is {}",
                           device, InMiB(bytes), InMiB(now.live_bytes), InMiB(limit_));
}

MemoryStats MemoryAccount::stats(Device device) const {
  const Count& count = counts_[IndexOf(device)];
  return {.live_bytes = count.live.load(std::memory_order_relaxed),
          .peak_bytes = count.peak.load(std::memory_order_relaxed),
          .limit_bytes = limit_};
}

void MemoryAccount::ResetPeak() {
  for (Count& count : counts_)
    count.peak.store(count.live.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

WithMemoryAccount::WithMemoryAccount(std::shared_ptr<MemoryAccount> account)
    : account_(std::move(account)), before_(innermost) {
  innermost = &account_;
}

WithMemoryAccount::~WithMemoryAccount() { innermost = before_; }

}  // namespace torus
