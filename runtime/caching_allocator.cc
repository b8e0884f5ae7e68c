#include "runtime/caching_allocator.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace torus {

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
    : SourceAllocator(std::move(source)), cached_(cached) {}

CachingAllocator::~CachingAllocator() { ReleaseCached(); }

SizeClass CachingAllocator::ClassOf(size_t bytes) const {
  // Without a cache, the exact size lets a sanitizer detect an access to the first byte beyond the
  // block.
  return cached_ ? SizeClassOf(bytes) : SizeClass{0, std::max<size_t>(bytes, 1)};
}

void* CachingAllocator::TryAllocate(size_t bytes, bool* zeros) {
  if (bytes > kMostBytes) return nullptr;
  const SizeClass size = ClassOf(bytes);
  void* block = PopCached(size);
  if (zeros) *zeros = block == nullptr && TakesZeros(size.bytes);
  if (block == nullptr) block = TakeFresh(size);
  if (block != nullptr) CountLive(bytes);
  return block;
}

void CachingAllocator::Free(void* block, size_t bytes) noexcept {
  CountFreed(bytes);
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
  Give(block, size.bytes);
}

void* CachingAllocator::PopCached(const SizeClass& size) {
  FreeList& list = lists_[size.index];
  const std::lock_guard lock(list.mutex);
  if (list.blocks.empty()) return nullptr;
  void* block = list.blocks.back();
  list.blocks.pop_back();
  return block;
}

// Null if there is no memory.
void* CachingAllocator::TakeFresh(const SizeClass& size) {
  void* const block = Take(size.bytes);
  if (block != nullptr || KeepsFreeBlocks()) return block;
  // Cached blocks of other classes may use up the memory.
  ReleaseCached();
  return Take(size.bytes);
}

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
    for (void* block : blocks) Give(block, bytes);
  }
}

}  // namespace torus
