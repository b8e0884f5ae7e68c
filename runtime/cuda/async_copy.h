// Copies from global to shared memory that run while the thread goes on. For kernel sources only;
// GPUs from sm_80 on.
#pragma once

#include <cstdint>

#include "runtime/cuda/kernel.h"
#ifndef __CUDACC__
#include "runtime/emulated_gpu/async_copies.h"
#endif

namespace torus::cuda {

// Starts to copy 16 bytes to shared memory, or to set them to zero if not `there`; `from` is then
// not read. Both are aligned to 16 bytes.
__device__ inline void CopyAsync16(void* to, const void* from, bool there) {
#ifndef __CUDACC__
  emulated_gpu::StartCopy16(to, there ? from : nullptr);
#else
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                   static_cast<uint32_t>(__cvta_generic_to_shared(to))),
               "l"(from), "r"(there ? 16 : 0)
               : "memory");
#endif
}

// Waits until the copies that this thread has started are done; other threads see them after a
// barrier. A thread waits before it ends. Emulated, some copies run only here.
__device__ inline void WaitForCopies() {
#ifndef __CUDACC__
  emulated_gpu::WaitForCopies();
#else
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace torus::cuda
