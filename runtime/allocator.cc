#include "runtime/allocator.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <memory>

#include "runtime/caching_allocator.h"
#include "runtime/error.h"

namespace torus {
namespace {

constexpr size_t kHuge = size_t{2} << 20;  // a huge page

#ifdef TORUS_SANITIZER
constexpr bool kCached = false;
#else
constexpr bool kCached = true;
#endif

constexpr bool IsMapped(size_t bytes) { return kCached && bytes >= kHuge; }

// Blocks that all began on a huge page would share their cache sets, and a kernel that reads some of them at one index
// would evict its own lines (measured: up to a third slower with nine inputs). So each begins a few pages and lines apart.
constexpr size_t kColours = 32, kColourStep = 4096 + 128;
constexpr size_t kColourRoom = kColours * kColourStep;
static_assert(kColourRoom < kHuge && kColourRoom % 4096 == 0 && kColourStep % 64 == 0);

size_t NextColour() {
  static std::atomic<size_t> count{0};
  // 13 is prime to 32: neighbours in time lie far apart, and all colours come in turn.
  return count.fetch_add(1, std::memory_order_relaxed) * 13 % kColours * kColourStep;
}

// Memory that begins in the first pages of a huge page, or null.
char* MapHuge(size_t bytes) {
  const size_t length = bytes + kColourRoom;
  void* mapped = ::mmap(nullptr, length + kHuge, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(mapped);
  const size_t before = -reinterpret_cast<uintptr_t>(begin) % kHuge;
  if (before > 0) ::munmap(begin, before);
  if (before < kHuge) ::munmap(begin + before + length, kHuge - before);
  ::madvise(begin + before, length, MADV_HUGEPAGE);  // a wish: small pages do as well
  return begin + before + NextColour();
}

void UnmapHuge(void* block, size_t bytes) noexcept {
  const auto address = reinterpret_cast<uintptr_t>(block);
  ::munmap(reinterpret_cast<void*>(address - address % kHuge), bytes + kColourRoom);
}

// Large blocks are mapped, on huge pages where the system has them; small ones come from the C library.
class CpuMemory : public MemorySource {
 public:
  std::string Name() const override { return "cpu"; }

  void* Take(size_t bytes) override {
    if (IsMapped(bytes)) return MapHuge(bytes);
    void* block = nullptr;
    return ::posix_memalign(&block, 64, bytes) == 0 ? block : nullptr;
  }

  void Give(void* block, size_t bytes) noexcept override {
    if (IsMapped(bytes))
      UnmapHuge(block, bytes);
    else
      std::free(block);
  }
};

}  // namespace

Allocator& AllocatorFor(Device device) {
  // Never destroyed: tensors of static lifetime may outlive any order of destruction.
  static Allocator* const cpu = new CachingAllocator(std::make_unique<CpuMemory>(), kCached);
  Require(device.kind == DeviceKind::kCpu, "allocator", "this build has no {}", ToString(device));
  return *cpu;
}

}  // namespace torus
