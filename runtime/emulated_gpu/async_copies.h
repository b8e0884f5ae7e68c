// Copies that a thread of an emulated GPU starts and waits for later (runtime/cuda/async_copy.h).
// Those to every second place of 16 bytes run at once, so that a kernel which still needs what was
// there reads something else; the others run when the thread waits, so that a kernel which does not
// wait reads what was there before. A thread waits for all its copies before it ends. For
// one-dimensional blocks.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/emulated_gpu/coordinates.h"
#include "runtime/error.h"

namespace torus::emulated_gpu {

inline constexpr size_t kCopiedBytes = 16;

struct StartedCopy {
  void Finish() const {
    if (from == nullptr)
      std::memset(to, 0, kCopiedBytes);
    else
      std::memcpy(to, from, kCopiedBytes);
  }

  void* to;
  const void* from;  // null: zeros
};

inline std::vector<StartedCopy>& CopiesOfThread() {
  static thread_local std::vector<StartedCopy> copies[1024];
  return copies[threadIdx.x];
}

// Neither this nor the next is code of a kernel, which the ledger counts.
[[gnu::noipa]] inline void StartCopy16(void* to, const void* from) {
  const uintptr_t place = reinterpret_cast<uintptr_t>(to);
  TORUS_CHECK(place % kCopiedBytes == 0 && reinterpret_cast<uintptr_t>(from) % kCopiedBytes == 0,
              "cp.async needs multiples of 16 bytes, got {} and {}", to, from);
  const StartedCopy copy{to, from};
  if (place / kCopiedBytes % 2 == 0)
    copy.Finish();
  else
    CopiesOfThread().push_back(copy);
}

[[gnu::noipa]] inline void WaitForCopies() {
  for (const StartedCopy& copy : CopiesOfThread()) copy.Finish();
  CopiesOfThread().clear();
}

}  // namespace torus::emulated_gpu
