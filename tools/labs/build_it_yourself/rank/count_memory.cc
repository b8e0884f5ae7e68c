// Counts what the process allocates. These functions replace the C library's, which new and delete
// call as well. A sanitizer has its own; then nothing is counted.
#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "lab_rank.h"

namespace {

std::atomic<int64_t> live{0}, peak{0}, blocks{0};

void* Add(void* memory) {
  if (memory == nullptr) return nullptr;
  const int64_t bytes = static_cast<int64_t>(malloc_usable_size(memory));
  blocks.fetch_add(1);
  const int64_t now = live.fetch_add(bytes) + bytes;
  int64_t most = peak.load();
  while (now > most && !peak.compare_exchange_weak(most, now)) {
  }
  return memory;
}

void Remove(void* memory) {
  if (memory == nullptr) return;
  blocks.fetch_sub(1);
  live.fetch_sub(static_cast<int64_t>(malloc_usable_size(memory)));
}

}  // namespace

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

void* malloc(size_t bytes) { return Add(__libc_malloc(bytes)); }
void* calloc(size_t count, size_t bytes) { return Add(__libc_calloc(count, bytes)); }
void* memalign(size_t alignment, size_t bytes) { return Add(__libc_memalign(alignment, bytes)); }
void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  *memory = memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}
void* realloc(void* memory, size_t bytes) {
  const int64_t before = memory == nullptr ? 0 : static_cast<int64_t>(malloc_usable_size(memory));
  void* moved = __libc_realloc(memory, bytes);
  if (moved != nullptr || bytes == 0) {
    live.fetch_sub(before);
    if (memory != nullptr) blocks.fetch_sub(1);
  }
  return Add(moved);
}
void free(void* memory) {
  Remove(memory);
  __libc_free(memory);
}
}

namespace lab {

int64_t LiveBytes() { return live.load(); }
int64_t LiveBlocks() { return blocks.load(); }
int64_t PeakBytes() { return peak.load(); }
void ResetPeak() { peak.store(live.load()); }

}  // namespace lab
