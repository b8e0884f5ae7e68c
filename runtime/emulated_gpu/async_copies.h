// Copies that a thread of an emulated GPU starts and waits for later (runtime/cuda/async_copy.h).
// They run when it waits, so that a kernel that does not wait reads what was there before. A thread
// waits for all its copies before it ends. For one-dimensional blocks. Neither inlined nor
// cloned, so that a tool can tell them from a kernel's code.
#pragma once

#include <cstring>
#include <vector>

#include "runtime/emulated_gpu/coordinates.h"
#include "runtime/error.h"

namespace torus::emulated_gpu {

struct LateCopy {
  void* to;
  const void* from;  // null: zeros
};

inline std::vector<LateCopy>& CopiesOfThread() {
  static thread_local std::vector<LateCopy> copies[1024];
  return copies[threadIdx.x];
}

[[gnu::noipa]] inline void CopyLater16(void* to, const void* from) {
  TORUS_CHECK(
      reinterpret_cast<uintptr_t>(to) % 16 == 0 && reinterpret_cast<uintptr_t>(from) % 16 == 0,
      "cp.async needs multiples of 16 bytes, got {} and {}", to, from);
  CopiesOfThread().push_back({to, from});
}

[[gnu::noipa]] inline void WaitForCopies() {
  constexpr size_t kBytes = 16;
  for (const LateCopy& copy : CopiesOfThread())
    if (copy.from == nullptr)
      std::memset(copy.to, 0, kBytes);
    else
      std::memcpy(copy.to, copy.from, kBytes);
  CopiesOfThread().clear();
}

}  // namespace torus::emulated_gpu
