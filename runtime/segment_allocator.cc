#include "runtime/segment_allocator.h"

#include <algorithm>
#include <iterator>

#include "runtime/caching_allocator.h"
#include "runtime/on_device.h"

namespace torus {
namespace {

// The sizes of PyTorch's allocator for CUDA, so that what fits there fits here.
constexpr size_t kRounding = 512, kMiB = size_t{1} << 20;
constexpr size_t kMostSmall = kMiB, kSmallSegment = 2 * kMiB;
constexpr size_t kMostShared = 10 * kMiB, kSharedSegment = 20 * kMiB;  // with other large requests

constexpr size_t RoundedUp(size_t bytes, size_t step) { return (bytes + step - 1) / step * step; }

size_t SegmentFor(size_t bytes) {
  if (bytes <= kMostSmall) return kSmallSegment;
  return bytes < kMostShared ? kSharedSegment : RoundedUp(bytes, 2 * kMiB);
}

// A smaller rest stays with the block.
size_t LeastRest(size_t bytes) { return bytes <= kMostSmall ? kRounding : kMiB; }

}  // namespace

SegmentAllocator::SegmentAllocator(std::unique_ptr<MemorySource> source)
    : SourceAllocator(std::move(source)) {}

SegmentAllocator::~SegmentAllocator() { ReleaseCached(); }

size_t SegmentAllocator::BlockFor(size_t bytes) const {
  return RoundedUp(std::max<size_t>(bytes, 1), kRounding);
}

void* SegmentAllocator::TryAllocate(size_t bytes, bool* zeros) {
  if (zeros != nullptr) *zeros = false;
  if (bytes > kMostBytes) return nullptr;
  const size_t size = BlockFor(bytes);
  const bool small = size <= kMostSmall;
  const std::lock_guard lock(mutex_);
  char* block = TakeFree(size, small);
  while (block == nullptr) {
    if (AddSegment(size, small))
      block = TakeFree(size, small);
    else if (small)
      block = TakeFree(size, false);  // before anything fails or goes back
    if (block == nullptr && (KeepsFreeBlocks() || !ReleaseLargest())) return nullptr;
  }
  CountLive(bytes);
  return block;
}

// Null if no free block is large enough.
char* SegmentAllocator::TakeFree(size_t bytes, bool small) {
  FreeBlocks& free = small ? small_ : large_;
  const auto found = free.lower_bound({bytes, nullptr});
  if (found == free.end()) return nullptr;
  const auto block = blocks_.find(found->second);
  if (block->second.bytes - bytes >= LeastRest(bytes)) Split(block, bytes);
  block->second.entry = FreeOf(*block->second.segment).extract({block->second.bytes, block->first});
  block->second.free = false;
  return block->first;
}

// Leaves a free block of `bytes` and a free one behind it.
void SegmentAllocator::Split(Blocks::iterator block, size_t bytes) {
  FreeBlocks& free = FreeOf(*block->second.segment);
  char* const second = block->first + bytes;
  const size_t rest = block->second.bytes - bytes;
  // All that may throw comes before anything is changed.
  FreeBlocks entries{{rest, second}};
  blocks_.emplace(second, Block{rest, block->second.segment, true, {}});
  auto entry = free.extract({block->second.bytes, block->first});
  entry.value().first = block->second.bytes = bytes;
  free.insert(std::move(entry));
  free.insert(entries.extract(entries.begin()));
}

void SegmentAllocator::Free(void* address, size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  CountFreed(bytes);
  auto block = blocks_.find(static_cast<char*>(address));
  MakeFree(block);
  const auto joins = [&](Blocks::iterator other) {
    return other != blocks_.end() && other->second.free &&
           other->second.segment == block->second.segment;
  };
  if (const auto after = std::next(block); joins(after)) Merge(block, after);
  if (block == blocks_.begin()) return;
  if (const auto before = std::prev(block); joins(before)) Merge(before, block);
}

void SegmentAllocator::MakeFree(Blocks::iterator block) noexcept {
  Block& b = block->second;
  b.entry.value() = {b.bytes, block->first};
  FreeOf(*b.segment).insert(std::move(b.entry));
  b.free = true;
}

// Both are free, the second begins where the first ends.
void SegmentAllocator::Merge(Blocks::iterator first, Blocks::iterator second) noexcept {
  FreeBlocks& free = FreeOf(*first->second.segment);
  free.erase({second->second.bytes, second->first});
  auto entry = free.extract({first->second.bytes, first->first});
  first->second.bytes += second->second.bytes;
  entry.value().first = first->second.bytes;
  free.insert(std::move(entry));
  blocks_.erase(second);
}

// Adds a free block of at least `size`; false if there is no memory for it.
bool SegmentAllocator::AddSegment(size_t size, bool small) {
  size_t bytes = SegmentFor(size);
  void* memory = Take(bytes);
  if (memory == nullptr) {  // what is left may be less than a segment that others could share
    bytes = size;
    memory = Take(bytes);
  }
  if (memory == nullptr) return false;
  char* const begin = static_cast<char*>(memory);
  try {
    const auto segment = segments_.emplace(begin, Segment{begin, bytes, small}).first;
    blocks_.emplace(begin, Block{bytes, &segment->second, true, {}});
    FreeOf(segment->second).insert({bytes, begin});
  } catch (...) {
    blocks_.erase(begin);
    segments_.erase(begin);
    Give(begin, bytes);
    throw;
  }
  return true;
}

// Gives the largest free segment back to the source. Returns whether there was one.
bool SegmentAllocator::ReleaseLargest() noexcept {
  auto largest = blocks_.end();
  for (auto block = blocks_.begin(); block != blocks_.end(); ++block) {
    const bool whole = block->second.free && block->second.bytes == block->second.segment->bytes;
    if (whole && (largest == blocks_.end() || block->second.bytes > largest->second.bytes))
      largest = block;
  }
  if (largest == blocks_.end()) return false;
  char* const begin = largest->first;
  const size_t bytes = largest->second.bytes;
  FreeOf(*largest->second.segment).erase({bytes, begin});
  blocks_.erase(largest);
  segments_.erase(begin);
  Give(begin, bytes);
  return true;
}

void SegmentAllocator::ReleaseCached() {
  const std::lock_guard lock(mutex_);
  while (ReleaseLargest()) {
  }
}

// On an emulated GPU each block has memory of its own: what is read or copied beyond it then shows,
// and the ledger tells tensors apart.
std::unique_ptr<Allocator> AllocatorOver(std::unique_ptr<MemorySource> source, bool of_gpu) {
  if (of_gpu && !kEmulatedGpu) return std::make_unique<SegmentAllocator>(std::move(source));
  return std::make_unique<CachingAllocator>(std::move(source), true);
}

}  // namespace torus
