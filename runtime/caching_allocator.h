// What the allocators of all devices share: size classes, free lists, counts and the limit. Memory
// itself comes from a MemorySource of the device.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/allocator.h"

namespace torus {

// A block size: requests are rounded up to a multiple of 64 bytes and to eight steps a doubling, so
// at most an eighth of a block is lost.
struct SizeClass {
  int index = 0;
  size_t bytes = 0;
};

inline constexpr size_t kMostBytes = size_t{1} << 48;  // above all address spaces
inline constexpr int kSizeClasses = 16 + (48 - 10) * 8;

// The class that holds `bytes` (at most kMostBytes); 0 takes the smallest.
SizeClass SizeClassOf(size_t bytes);

// Where blocks come from.
class MemorySource {
 public:
  virtual ~MemorySource() = default;
  // "cpu", "cuda:0", for messages.
  virtual std::string Name() const = 0;
  // A block aligned to 64 bytes, or null.
  virtual void* Take(size_t bytes) = 0;
  // Whether what Take gives for so many bytes is zero all over.
  virtual bool TakesZeros(size_t) const { return false; }
  virtual void Give(void* block, size_t bytes) noexcept = 0;
  // Why Take gives nothing, for messages.
  virtual std::string Shortage() const { return "the system has no more"; }
};

// Keeps freed blocks by size class, each class under a lock of its own. A class gives back the
// block freed last: the warmest. Where `cached` is false every block goes straight back to the
// source, so that a sanitizer sees uses after free; counts and limit stay the same but for
// rounding.
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
