#include "runtime/allocator.h"

#include <malloc.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "runtime/address_space.h"
#include "runtime/caching_allocator.h"
#include "runtime/cuda_api.h"
#include "runtime/error.h"
#include "runtime/on_device.h"
#include "runtime/system_memory.h"

namespace torus {
namespace {

constexpr size_t kHuge = size_t{2} << 20;  // a huge page

#ifdef TORUS_SANITIZER
constexpr bool kCached = false;
#else
constexpr bool kCached = true;
#endif

constexpr bool IsMapped(size_t bytes) { return kCached && bytes >= kHuge; }

// If all blocks began at a huge page boundary, they would share cache sets, and a kernel that reads
// several of them at the same index would evict its own lines (measured: up to a third slower with
// nine inputs). So their beginnings differ by a few pages and lines.
constexpr size_t kColours = 32, kColourStep = 4096 + 128;
constexpr size_t kColourRoom = kColours * kColourStep;
static_assert(kColourRoom < kHuge && kColourRoom % 4096 == 0 && kColourStep % 64 == 0);

size_t NextColour() {
  static std::atomic<size_t> count{0};
  // 13 is coprime to 32: consecutive blocks are far apart, and all colours are used in turn.
  return count.fetch_add(1, std::memory_order_relaxed) * 13 % kColours * kColourStep;
}

// Maps memory that begins in the first pages of a huge page. Returns null on failure.
char* MapHuge(size_t bytes) {
  const size_t length = bytes + kColourRoom;
  void* mapped = ::mmap(nullptr, length + kHuge, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(mapped);
  const size_t before = -reinterpret_cast<uintptr_t>(begin) % kHuge;
  if (before > 0) ::munmap(begin, before);
  if (before < kHuge) ::munmap(begin + before + length, kHuge - before);
  ::madvise(begin + before, length, MADV_HUGEPAGE);  // a hint: small pages work too
  return begin + before + NextColour();
}

void UnmapHuge(void* block, size_t bytes) noexcept {
  const auto address = reinterpret_cast<uintptr_t>(block);
  ::munmap(reinterpret_cast<void*>(address - address % kHuge), bytes + kColourRoom);
}

// Maps large blocks, on huge pages if the system has them; small blocks come from the C library.
class CpuMemory : public MemorySource {
 public:
  std::string Name() const override { return "cpu"; }

  void* Take(size_t bytes) override {
    const size_t left = FreeAddressSpace();
    if (left < kAddressSpaceReserve || left - kAddressSpaceReserve < bytes) return nullptr;
    if (IsMapped(bytes)) return MapHuge(bytes);
    void* block = nullptr;
    return ::posix_memalign(&block, 64, bytes) == 0 ? block : nullptr;
  }

  bool TakesZeros(size_t bytes) const override { return IsMapped(bytes); }

  void Give(void* block, size_t bytes) noexcept override {
    if (IsMapped(bytes))
      UnmapHuge(block, bytes);
    else
      std::free(block);
  }

  std::string Shortage() const override {
    const std::string left = AddressSpaceLeft();
    return left.empty() ? MemorySource::Shortage() : left;
  }
};

// A freed block may be handed out again while the GPU still reads it, so all work on it must be in
// one stream.
class GpuMemory : public MemorySource {
 public:
  explicit GpuMemory(int index) : index_(index) {}
  std::string Name() const override { return ToString(Device{DeviceKind::kCuda, index_}); }
  void* Take(size_t bytes) override { return cuda::Malloc(index_, bytes); }
  void Give(void* block, size_t) noexcept override { cuda::Free(index_, block); }

 private:
  int index_;
};

class PinnedMemory : public MemorySource {
 public:
  std::string Name() const override { return "cpu, pinned"; }
  void* Take(size_t bytes) override { return cuda::MallocHost(bytes); }
  void Give(void* block, size_t) noexcept override { cuda::FreeHost(block); }
};

// glibc reserves 64 MiB of address space for the small blocks of each thread. If address space is
// limited, the threads share one such arena.
void SaveAddressSpace() {
#ifdef M_ARENA_MAX
  if (!AddressSpaceLeft().empty()) ::mallopt(M_ARENA_MAX, 1);
#endif
}

// Allocators are never destroyed, because static tensors may be destroyed after any other static
// object.
Allocator& CpuAllocator() {
  static Allocator* const allocator = [] {
    SaveAddressSpace();
    auto* made = new CachingAllocator(std::make_unique<CpuMemory>(), kCached);
    made->SetLimit(SystemMemory() / 8 * 7);
    return made;
  }();
  return *allocator;
}

Allocator& GpuAllocator(int index) {
  constexpr int kMost = 64;
  static std::array<std::atomic<Allocator*>, kMost> allocators{};
  static std::mutex making;
  Require(index >= 0 && index < kMost, "allocator", "there is no cuda:{}", index);
  if (Allocator* made = allocators[index].load(std::memory_order_acquire)) return *made;
  const std::lock_guard lock(making);
  if (Allocator* made = allocators[index].load(std::memory_order_acquire)) return *made;
  const int count = cuda::DeviceCount();
  Require(index < count, "allocator", "there is no cuda:{}: {} GPUs can be used", index, count);
  Allocator* fresh = AllocatorOver(std::make_unique<GpuMemory>(index), true).release();
  allocators[index].store(fresh, std::memory_order_release);
  return *fresh;
}

// Pinned memory cannot be used by any other program on the machine, so its limit is lower.
Allocator& MadePinnedAllocator() {
  static Allocator* const allocator = [] {
    auto* made = new CachingAllocator(std::make_unique<PinnedMemory>(), kCached);
    made->SetLimit(SystemMemory() / 4);
    return made;
  }();
  return *allocator;
}

}  // namespace

Allocator& PinnedAllocator() {
  Require(kHasCuda, "allocator", "this build has no GPUs, and so no pinned memory");
  return OnDevice(
      {kHasCuda ? DeviceKind::kCuda : DeviceKind::kCpu},
      []() -> Allocator& { return AllocatorFor({}); },
      []() -> Allocator& { return MadePinnedAllocator(); });
}

Allocator& AllocatorFor(Device device) {
  Require(device.kind != DeviceKind::kMeta, "allocator", "meta has no memory");
  Require(kHasCuda || device.kind == DeviceKind::kCpu, "allocator", "this build has no {}", device);
  return OnDevice(
      device, []() -> Allocator& { return CpuAllocator(); },
      [&]() -> Allocator& { return GpuAllocator(device.index); });
}

}  // namespace torus
