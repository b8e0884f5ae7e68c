#include "runtime/caching_allocator.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "runtime/error.h"

namespace torus {
namespace {

std::string InMiB(size_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

SizeClass SizeClassOf(size_t bytes) {
  bytes = std::max<size_t>(bytes, 1);
  // Sizes in (2^power, 2^(power + 1)] have steps of an eighth of 2^power.
  const int power = std::bit_width(bytes - 1) - 1;
  const int shift = std::max(6, power - 3);
  const size_t steps = ((bytes - 1) >> shift) + 1;
  const int index = power < 10 ? static_cast<int>(steps) - 1
                               : 16 + (power - 10) * 8 + static_cast<int>(steps) - 9;
  return {index, steps << shift};
}

CachingAllocator::CachingAllocator(std::unique_ptr<MemorySource> source, bool cached)
    : source_(std::move(source)), cached_(cached) {}

CachingAllocator::~CachingAllocator() { ReleaseCached(); }

SizeClass CachingAllocator::ClassOf(size_t bytes) const {
  // Without a cache, the exact size lets a sanitizer detect an access to the first byte beyond the
  // block.
  return cached_ ? SizeClassOf(bytes) : SizeClass{0, std::max<size_t>(bytes, 1)};
}

void* CachingAllocator::Allocate(size_t bytes, bool* zeros) {
  if (bytes > kMostBytes) FailOutOfMemory(bytes);
  const SizeClass size = ClassOf(bytes);
  void* block = PopCached(size);
  if (zeros) *zeros = block == nullptr && source_->TakesZeros(size.bytes);
  if (block == nullptr) block = TakeFresh(size, bytes);
  CountLive(bytes);
  return block;
}

void CachingAllocator::Free(void* block, size_t bytes) noexcept {
  live_.fetch_sub(bytes, std::memory_order_relaxed);
  const SizeClass size = ClassOf(bytes);
  if (cached_) {
    FreeList& list = lists_[size.index];
    const std::lock_guard lock(list.mutex);
    try {
      return list.blocks.push_back(block);
    } catch (const std::bad_alloc&) {
      // There is no memory for the list entry, so the block goes back to the source below.
    }
  }
  GiveBack(block, size.bytes);
}

void* CachingAllocator::PopCached(const SizeClass& size) {
  FreeList& list = lists_[size.index];
  const std::lock_guard lock(list.mutex);
  if (list.blocks.empty()) return nullptr;
  void* block = list.blocks.back();
  list.blocks.pop_back();
  return block;
}

void* CachingAllocator::TakeFresh(const SizeClass& size, size_t asked) {
  if (void* block = TryTake(size.bytes)) return block;
  // Cached blocks of other classes may use up the memory.
  ReleaseCached();
  if (void* block = TryTake(size.bytes)) return block;
  FailOutOfMemory(asked);
}

void* CachingAllocator::TryTake(size_t bytes) {
  if (!Reserve(bytes)) return nullptr;
  void* block = source_->Take(bytes);
  if (block == nullptr) held_.fetch_sub(bytes, std::memory_order_relaxed);
  return block;
}

// The count never exceeds the limit, not even briefly: a request that is refused must not make
// another thread's request fail.
bool CachingAllocator::Reserve(size_t bytes) {
  const size_t limit = limit_.load(std::memory_order_relaxed);
  size_t held = held_.load(std::memory_order_relaxed);
  do {
    if (limit != 0 && held + bytes > limit) return false;
  } while (!held_.compare_exchange_weak(held, held + bytes, std::memory_order_relaxed));
  return true;
}

void CachingAllocator::GiveBack(void* block, size_t bytes) noexcept {
  source_->Give(block, bytes);
  held_.fetch_sub(bytes, std::memory_order_relaxed);
}

void CachingAllocator::CountLive(size_t bytes) {
  allocations_.fetch_add(1, std::memory_order_relaxed);
  const size_t live = live_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  size_t peak = peak_.load(std::memory_order_relaxed);
  while (live > peak && !peak_.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
  }
}

void CachingAllocator::FailOutOfMemory(size_t asked) const {
  const MemoryStats now = stats();
  const size_t size = asked > kMostBytes ? asked : ClassOf(asked).bytes;
  const bool at_limit = now.limit_bytes != 0 && now.held_bytes + size > now.limit_bytes;
  Throw<BrokenEnvironment>("allocator", "out of memory on {}: asked for {}, {} live, {} held, {}",
                           source_->Name(), InMiB(asked), InMiB(now.live_bytes),
                           InMiB(now.held_bytes),
                           at_limit ? "limit " + InMiB(now.limit_bytes) : source_->Shortage());
}

MemoryStats CachingAllocator::stats() const {
  return {live_.load(std::memory_order_relaxed), peak_.load(std::memory_order_relaxed),
          held_.load(std::memory_order_relaxed), limit_.load(std::memory_order_relaxed),
          allocations_.load(std::memory_order_relaxed)};
}

void CachingAllocator::ResetPeak() {
  peak_.store(live_.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void CachingAllocator::SetLimit(size_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }

void CachingAllocator::ReleaseCached() {
  // Class sizes increase with the index. The next class's size is found by asking for one byte more
  // than the previous one.
  size_t bytes = 0;
  for (FreeList& list : lists_) {
    bytes = SizeClassOf(bytes + 1).bytes;
    std::vector<void*> blocks;
    {
      const std::lock_guard lock(list.mutex);
      blocks.swap(list.blocks);
    }
    for (void* block : blocks) GiveBack(block, bytes);
  }
}

}  // namespace torus
