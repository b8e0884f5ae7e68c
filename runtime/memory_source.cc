#include "runtime/memory_source.h"

#include "runtime/error.h"

namespace torus {

std::string InMiB(size_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

void SourceAllocator::CountLive(size_t bytes) {
  allocations_.fetch_add(1, std::memory_order_relaxed);
  const size_t live = live_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  size_t peak = peak_.load(std::memory_order_relaxed);
  while (live > peak && !peak_.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
  }
}

void* SourceAllocator::Allocate(size_t bytes, bool* zeros) {
  if (void* block = TryAllocate(bytes, zeros)) return block;
  FailOutOfMemory(bytes);
}

void* SourceAllocator::Take(size_t bytes) {
  if (!Reserve(bytes)) return nullptr;
  void* block = nullptr;
  try {
    block = source_->Take(bytes);
  } catch (...) {
    held_.fetch_sub(bytes, std::memory_order_relaxed);
    throw;
  }
  if (block == nullptr) held_.fetch_sub(bytes, std::memory_order_relaxed);
  return block;
}

// The count never exceeds the limit, not even briefly: a request that is refused must not make
// another thread's request fail.
bool SourceAllocator::Reserve(size_t bytes) {
  const size_t limit = limit_.load(std::memory_order_relaxed);
  size_t held = held_.load(std::memory_order_relaxed);
  do {
    if (limit != 0 && held + bytes > limit) return false;
  } while (!held_.compare_exchange_weak(held, held + bytes, std::memory_order_relaxed));
  return true;
}

void SourceAllocator::Give(void* block, size_t bytes) noexcept {
  source_->Give(block, bytes);
  held_.fetch_sub(bytes, std::memory_order_relaxed);
}

MemoryStats SourceAllocator::stats() const {
  return {live_.load(std::memory_order_relaxed), peak_.load(std::memory_order_relaxed),
          held_.load(std::memory_order_relaxed), limit_.load(std::memory_order_relaxed),
          allocations_.load(std::memory_order_relaxed)};
}

void SourceAllocator::ResetPeak() {
  peak_.store(live_.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void SourceAllocator::FailOutOfMemory(size_t asked) const {
  const MemoryStats now = stats();
  const size_t size = asked > kMostBytes ? kMostBytes : BlockFor(asked);
  const bool at_limit = now.limit_bytes != 0 && now.held_bytes + size > now.limit_bytes;
  Throw<BrokenEnvironment>("allocator", "out of memory on {}: asked for {}, {} live, {} held, {}",
                           source_->Name(), InMiB(asked), InMiB(now.live_bytes),
                           InMiB(now.held_bytes),
                           at_limit ? "limit " + InMiB(now.limit_bytes) : source_->Shortage());
}

}  // namespace torus
