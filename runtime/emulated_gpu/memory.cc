#include "runtime/emulated_gpu/memory.h"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "runtime/error.h"

namespace torus::emulated_gpu {
namespace {

constexpr size_t kAlignment = 256;
constexpr size_t kMostReserved = size_t{1} << 42;  // addresses; none is used twice

struct Memories {
  std::mutex mutex;
  std::map<const char*, MemoryBlock> blocks;  // by where they begin
  std::array<size_t, kDevices> used{};
  size_t most = kMemoryBytes;  // of one GPU
  char* reserved = nullptr;    // what is left, or null
};

// Where the reserved addresses begin, null before, and how many there are. Apart from the rest,
// which has a mutex.
std::atomic<char*> first_reserved{nullptr};
std::atomic<size_t> reserved_bytes{0};

// Never destroyed, because static tensors may be freed after it.
Memories& All() {
  static auto* const memories = new Memories;
  return *memories;
}

size_t Rounded(size_t bytes, size_t to) { return (bytes / to + 1) * to; }

// Filled with NaN bytes, or, from reserved addresses, zeros.
char* NewBlock(Memories& all, size_t bytes) {
  if (all.reserved != nullptr) {
    constexpr size_t kPage = 4096;  // so that each block's pages can be given back
    const size_t whole = Rounded(bytes, kPage);
    const bool left = whole <= static_cast<size_t>(first_reserved + reserved_bytes - all.reserved);
    return left ? std::exchange(all.reserved, all.reserved + whole) : nullptr;
  }
  const size_t whole = Rounded(bytes, kAlignment);
  char* const begin = static_cast<char*>(std::aligned_alloc(kAlignment, whole));
  if (begin != nullptr) std::memset(begin, 0xff, whole);
  return begin;
}

// Up to kMostReserved addresses: as many as there are in one piece, for some programs have fewer
// (ThreadSanitizer leaves 1.5 TiB). At least `least`.
std::span<char> ReserveAddresses(size_t least) {
  for (size_t bytes = kMostReserved; bytes >= least; bytes /= 2) {
    void* const begin = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (begin != MAP_FAILED) return {static_cast<char*>(begin), bytes};
  }
  Throw<BrokenEnvironment>("emulated_gpu", "cannot reserve {} GiB of addresses: {}", least >> 30,
                           std::strerror(errno));
}

}  // namespace

void ReserveMemory(size_t bytes_of_each) {
  Memories& all = All();
  const std::lock_guard lock(all.mutex);
  if (all.reserved != nullptr) return;
  TORUS_CHECK(all.blocks.empty(), "{} blocks of GPUs' memory are taken already", all.blocks.size());
  const std::span<char> addresses = ReserveAddresses(bytes_of_each * kDevices);
  all.most = bytes_of_each;
  all.reserved = addresses.data();
  reserved_bytes = addresses.size();
  first_reserved = all.reserved;
}

bool IsReserved(const void* address) {
  const char* const begin = first_reserved.load(std::memory_order_relaxed);
  const char* const at = static_cast<const char*>(address);
  return begin != nullptr && at >= begin && at < begin + reserved_bytes;
}

void* TakeMemory(int device, size_t bytes) {
  Memories& all = All();
  const std::lock_guard lock(all.mutex);
  if (bytes > all.most - all.used[device]) return nullptr;
  char* const begin = NewBlock(all, bytes);
  if (begin == nullptr) return nullptr;
  all.blocks[begin] = {device, begin, bytes};
  all.used[device] += bytes;
  return begin;
}

void GiveMemory(int device, void* block) {
  Memories& all = All();
  const std::lock_guard lock(all.mutex);
  const auto found = all.blocks.find(static_cast<const char*>(block));
  TORUS_CHECK(found != all.blocks.end() && found->second.device == device,
              "{} is no block of emulated GPU {}", block, device);
  const size_t bytes = found->second.bytes;
  all.used[device] -= bytes;
  all.blocks.erase(found);
  IsReserved(block) ? void(::madvise(block, bytes, MADV_DONTNEED)) : std::free(block);
}

std::optional<MemoryBlock> BlockOf(const void* address) {
  const char* const at = static_cast<const char*>(address);
  Memories& all = All();
  const std::lock_guard lock(all.mutex);
  auto after = all.blocks.upper_bound(at);
  if (after == all.blocks.begin()) return std::nullopt;
  const MemoryBlock& block = std::prev(after)->second;
  return at < block.begin + block.bytes ? std::optional(block) : std::nullopt;
}

void CheckSpan(const char* what, const void* begin, size_t bytes) {
  const auto block = BlockOf(begin);
  if (!block.has_value()) return;
  const size_t left = block->bytes - (static_cast<const char*>(begin) - block->begin);
  if (bytes > left)
    Throw<BrokenEnvironment>(what, "{} bytes from an address of cuda:{} that has {} left", bytes,
                             block->device, left);
}

void CheckArgument(const std::string& kernel, int device, const void* argument, size_t bytes) {
  for (size_t at = 0; at + sizeof(void*) <= bytes; at += sizeof(void*)) {
    const void* word;
    std::memcpy(&word, static_cast<const char*>(argument) + at, sizeof word);
    const auto block = BlockOf(word);
    if (block.has_value() && block->device != device)
      Throw<BrokenEnvironment>(kernel, "runs on cuda:{} and was given memory of cuda:{}", device,
                               block->device);
  }
}

}  // namespace torus::emulated_gpu
