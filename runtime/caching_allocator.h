// CachingAllocator: the allocator of the CPU's memory, by size classes.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/memory_source.h"

namespace torus {

// A block size. Requests are rounded up to a multiple of 64 bytes and to one of eight steps per
// power of two, so at most an eighth of a block is wasted.
struct SizeClass {
  int index = 0;
  size_t bytes = 0;
};

inline constexpr int kSizeClasses = 16 + (48 - 10) * 8;

// The smallest class that holds `bytes` (at most kMostBytes).
SizeClass SizeClassOf(size_t bytes);

// Keeps freed blocks by size class, each class under its own lock. A class hands out the block that
// was freed last, which is most likely still in the CPU's caches. If `cached` is false, every block
// goes straight back to the source, so that a sanitizer sees use after free; counts and limit are
// the same except for rounding.
class CachingAllocator : public SourceAllocator {
 public:
  CachingAllocator(std::unique_ptr<MemorySource> source, bool cached);
  ~CachingAllocator() override;

  void* TryAllocate(size_t bytes, bool* zeros = nullptr) override;
  void Free(void* block, size_t bytes) noexcept override;
  void ReleaseCached() override;

 protected:
  size_t BlockFor(size_t bytes) const override { return ClassOf(bytes).bytes; }

 private:
  struct FreeList {
    std::mutex mutex;
    std::vector<void*> blocks;
  };

  SizeClass ClassOf(size_t bytes) const;
  void* PopCached(const SizeClass& size);
  void* TakeFresh(const SizeClass& size);

  const bool cached_;
  std::array<FreeList, kSizeClasses> lists_;
};

}  // namespace torus
