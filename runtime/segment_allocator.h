// SegmentAllocator: the allocator of a GPU's memory, which divides large segments into blocks.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "runtime/memory_source.h"

namespace torus {

// Taking memory from a GPU waits for all its work, and a GPU has little of it. So memory is taken
// in segments: a request gets the smallest free block that holds it, what is left of that stays
// free, and a freed block is merged with its free neighbours. Small requests (up to 1 MiB) have
// segments of their own; they divide large ones only if the device has no more memory. If there is
// no block either, free segments are given back, the largest first, until the request fits (none,
// if the source keeps free blocks).
class SegmentAllocator : public SourceAllocator {
 public:
  explicit SegmentAllocator(std::unique_ptr<MemorySource> source);
  ~SegmentAllocator() override;

  void* TryAllocate(size_t bytes, bool* zeros = nullptr) override;
  void Free(void* block, size_t bytes) noexcept override;
  void ReleaseCached() override;

 protected:
  size_t BlockFor(size_t bytes) const override;

 private:
  // By size, then by address: the same requests get the same addresses.
  using FreeBlocks = std::set<std::pair<size_t, char*>>;
  struct Segment {
    char* begin;
    size_t bytes;
    bool small;
  };
  struct Block {
    size_t bytes = 0;
    const Segment* segment = nullptr;
    bool free = false;
    FreeBlocks::node_type entry;  // while it is in use, so that freeing needs no memory
  };
  using Blocks = std::map<char*, Block>;

  FreeBlocks& FreeOf(const Segment& segment) { return segment.small ? small_ : large_; }
  char* TakeFree(size_t bytes, bool small);
  void Split(Blocks::iterator block, size_t bytes);
  void Merge(Blocks::iterator first, Blocks::iterator second) noexcept;
  void MakeFree(Blocks::iterator block) noexcept;
  bool AddSegment(size_t size, bool small);
  bool ReleaseLargest() noexcept;

  std::mutex mutex_;
  std::map<char*, Segment> segments_;
  Blocks blocks_;  // of all segments, by address
  FreeBlocks small_, large_;
};

}  // namespace torus
