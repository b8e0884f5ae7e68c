#include "runtime/emulated_gpu/memory.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "runtime/error.h"

namespace torus::emulated_gpu {
namespace {

struct Memories {
  std::mutex mutex;
  std::map<const char*, MemoryBlock> blocks;  // by where they begin
  std::array<size_t, kDevices> used{};
};

// Never destroyed, because static tensors may be freed after it.
Memories& All() {
  static auto* const memories = new Memories;
  return *memories;
}

}  // namespace

void* TakeMemory(int device, size_t bytes) {
  constexpr size_t kAlignment = 256;
  Memories& all = All();
  const std::lock_guard lock(all.mutex);
  if (bytes > kMemoryBytes - all.used[device]) return nullptr;
  const size_t whole = (bytes / kAlignment + 1) * kAlignment;
  char* const begin = static_cast<char*>(std::aligned_alloc(kAlignment, whole));
  if (begin == nullptr) return nullptr;
  std::memset(begin, 0xff, whole);
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
  all.used[device] -= found->second.bytes;
  all.blocks.erase(found);
  std::free(block);
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
