#include "parallel/data_parallel/releasable_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

// The fewest bytes for which huge pages are worthwhile.
constexpr size_t kLarge = size_t{2} << 20;

void* Reserve(size_t bytes) {
  void* const data =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED)
    Throw<BrokenEnvironment>("memory", "cannot reserve {} bytes of addresses: {}", bytes,
                             std::strerror(errno));
  if (bytes >= kLarge) madvise(data, bytes, MADV_HUGEPAGE);
  return data;
}

}  // namespace

ReleasableMemory::ReleasableMemory(size_t bytes)
    : bytes_(std::max<size_t>(1, bytes)), data_(Reserve(bytes_)) {}

ReleasableMemory::~ReleasableMemory() { munmap(data_, bytes_); }

void ReleasableMemory::Protect(int protection) const {
  if (mprotect(data_, bytes_, protection) != 0)
    Throw<BrokenEnvironment>("memory", "cannot take or release {} bytes: {}", bytes_,
                             std::strerror(errno));
}

void ReleasableMemory::Take() {
  if (taken_) return;
  Protect(PROT_READ | PROT_WRITE);
  taken_ = true;
}

void ReleasableMemory::Release() {
  if (!taken_) return;
  madvise(data_, bytes_, MADV_DONTNEED);
  Protect(PROT_NONE);
  taken_ = false;
}

}  // namespace torus::parallel
