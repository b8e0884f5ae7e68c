// AllocatorSource: an allocator as the source of another, whose blocks stay its own.
#pragma once

#include <memory>
#include <string>

#include "runtime/device.h"
#include "runtime/memory_account.h"
#include "runtime/memory_source.h"

namespace torus {

// For memory that recorded work uses: an allocator over it gives nothing back before it ends.
// `from` must outlive it. Its blocks are charged to the account of the thread that makes it.
class AllocatorSource : public MemorySource {
 public:
  // `from` is the device's.
  AllocatorSource(Allocator& from, Device device);
  std::string Name() const override { return ToString(device_); }
  void* Take(size_t bytes) override;
  void Give(void* block, size_t bytes) noexcept override;
  bool KeepsFreeBlocks() const override { return true; }
  std::string Shortage() const override;

 private:
  Allocator& from_;
  const Device device_;
  const std::shared_ptr<MemoryAccount> account_;  // null: none
};

}  // namespace torus
