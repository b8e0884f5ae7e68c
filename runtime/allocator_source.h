// AllocatorSource: an allocator as the source of another, whose blocks stay its own.
#pragma once

#include <string>

#include "runtime/memory_source.h"

namespace torus {

// For memory that recorded work uses: an allocator over it gives nothing back before it ends.
// `from` must outlive it.
class AllocatorSource : public MemorySource {
 public:
  // `name` is the device's, for messages.
  AllocatorSource(Allocator& from, std::string name);
  std::string Name() const override { return name_; }
  void* Take(size_t bytes) override { return from_.TryAllocate(bytes); }
  void Give(void* block, size_t bytes) noexcept override { from_.Free(block, bytes); }
  bool KeepsFreeBlocks() const override { return true; }
  std::string Shortage() const override;

 private:
  Allocator& from_;
  const std::string name_;
};

}  // namespace torus
