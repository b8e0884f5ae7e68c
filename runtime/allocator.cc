#include "runtime/allocator.h"

#include <cstdlib>

#include "runtime/error.h"

namespace torus {
namespace {
class Plain : public Allocator {
 public:
  void* Allocate(size_t bytes) override { return std::aligned_alloc(64, (bytes + 64) / 64 * 64); }
  void Free(void* block, size_t) noexcept override { std::free(block); }
  MemoryStats stats() const override { return {}; }
  void ResetPeak() override {}
  void SetLimit(size_t) override {}
  void ReleaseCached() override {}
};
}  // namespace

Allocator& AllocatorFor(Device device) {
  static Plain* cpu = new Plain;
  Require(device.kind == DeviceKind::kCpu, "allocator", "this build has no {}", ToString(device));
  return *cpu;
}

}  // namespace torus
