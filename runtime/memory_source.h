// Where allocators take their blocks from, and what they count.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "runtime/allocator.h"

namespace torus {

// The memory of a device.
class MemorySource {
 public:
  virtual ~MemorySource() = default;
  // The name in messages: "cpu", "cuda:0".
  virtual std::string Name() const = 0;
  // Returns a block aligned to 64 bytes, or null if there is no memory. Throws for other failures.
  virtual void* Take(size_t bytes) = 0;
  // Whether a block of so many bytes from Take is all zero.
  virtual bool TakesZeros(size_t) const { return false; }
  virtual void Give(void* block, size_t bytes) noexcept = 0;
  // Whether free blocks must stay with their allocator, also in a shortage, because work that runs
  // later still uses them.
  virtual bool KeepsFreeBlocks() const { return false; }
  // Why Take returned null, for messages.
  virtual std::string Shortage() const { return "the system has no more"; }
};

// "1.5 MiB", as messages of allocators say it.
std::string InMiB(size_t bytes);

inline constexpr size_t kMostBytes = size_t{1} << 48;  // more than any address space

// What the allocators over a source share: it counts what they take and hand out. Thread-safe.
class SourceAllocator : public Allocator {
 public:
  void* Allocate(size_t bytes, bool* zeros = nullptr) override;
  MemoryStats stats() const override;
  void ResetPeak() override;
  void SetLimit(size_t bytes) override { limit_.store(bytes, std::memory_order_relaxed); }

 protected:
  explicit SourceAllocator(std::unique_ptr<MemorySource> source) : source_(std::move(source)) {}
  // The size of the block that a request of so many bytes, at most kMostBytes, gets at least.
  virtual size_t BlockFor(size_t bytes) const = 0;
  void CountLive(size_t bytes);
  void CountFreed(size_t bytes) { live_.fetch_sub(bytes, std::memory_order_relaxed); }
  // A block of the source, which is held from then on; null if that would exceed the limit, or if
  // the source has none.
  void* Take(size_t bytes);
  void Give(void* block, size_t bytes) noexcept;
  bool TakesZeros(size_t bytes) const { return source_->TakesZeros(bytes); }
  bool KeepsFreeBlocks() const { return source_->KeepsFreeBlocks(); }

 private:
  [[noreturn]] void FailOutOfMemory(size_t asked) const;
  bool Reserve(size_t bytes);

  const std::unique_ptr<MemorySource> source_;
  std::atomic<size_t> live_{0}, peak_{0}, held_{0}, limit_{0};
  std::atomic<uint64_t> allocations_{0};
};

// The allocator of a device's memory from `source`, which caches: in segments on a GPU, else by
// size classes.
std::unique_ptr<Allocator> AllocatorOver(std::unique_ptr<MemorySource> source, bool of_gpu);

}  // namespace torus
