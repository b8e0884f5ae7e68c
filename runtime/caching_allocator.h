// The part that the allocators of all devices share: size classes, free lists, counters and the
// limit. The memory itself comes from a device's MemorySource.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/allocator.h"

namespace torus {

// A block size. Requests are rounded up to a multiple of 64 bytes and to one of eight steps per
// power of two, so at most an eighth of a block is wasted.
struct SizeClass {
  int index = 0;
  size_t bytes = 0;
};

inline constexpr size_t kMostBytes = size_t{1} << 48;  // more than any address space
inline constexpr int kSizeClasses = 16 + (48 - 10) * 8;

// The smallest class that holds `bytes` (at most kMostBytes).
SizeClass SizeClassOf(size_t bytes);

// Where blocks come from.
class MemorySource {
 public:
  virtual ~MemorySource() = default;
  // The name in messages: "cpu", "cuda:0".
  virtual std::string Name() const = 0;
  // Returns a block aligned to 64 bytes, or null.
  virtual void* Take(size_t bytes) = 0;
  // Whether a block of so many bytes from Take is all zero.
  virtual bool TakesZeros(size_t) const { return false; }
  virtual void Give(void* block, size_t bytes) noexcept = 0;
  // Why Take returned null, for messages.
  virtual std::string Shortage() const { return "the system has no more"; }
};

// Keeps freed blocks by size class, each class under its own lock. A class hands out the block that
// was freed last, which is most likely still in the CPU's caches. If `cached` is false, every block
// goes straight back to the source, so that a sanitizer sees use after free; counts and limit are
// the same except for rounding.
class CachingAllocator : public Allocator {
 public:
  CachingAllocator(std::unique_ptr<MemorySource> source, bool cached);
  ~CachingAllocator() override;

  void* Allocate(size_t bytes, bool* zeros = nullptr) override;
  void Free(void* block, size_t bytes) noexcept override;
  MemoryStats stats() const override;
  void ResetPeak() override;
  void SetLimit(size_t bytes) override;
  void ReleaseCached() override;

 private:
  struct FreeList {
    std::mutex mutex;
    std::vector<void*> blocks;
  };

  SizeClass ClassOf(size_t bytes) const;
  void* PopCached(const SizeClass& size);
  void* TakeFresh(const SizeClass& size, size_t asked);
  void* TryTake(size_t bytes);
  bool Reserve(size_t bytes);
  void GiveBack(void* block, size_t bytes) noexcept;
  void CountLive(size_t bytes);
  [[noreturn]] void FailOutOfMemory(size_t asked) const;

  const std::unique_ptr<MemorySource> source_;
  const bool cached_;
  std::array<FreeList, kSizeClasses> lists_;
  std::atomic<size_t> live_{0}, peak_{0}, held_{0}, limit_{0};
  std::atomic<uint64_t> allocations_{0};
};

}  // namespace torus
