// Running sums over a block's threads. In kernels' sources only.
#pragma once

#include <cstdint>

#include "runtime/cuda/block.h"

namespace torus::parallel::cuda {

// The sum over the warp's lanes up to the calling one, its own value included. All lanes call it.
__device__ inline uint32_t SumOfLanesTo(uint32_t value) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned by = 1; by < 32; by *= 2) {
    const uint32_t before = __shfl_up_sync(torus::cuda::kWholeWarp, value, by);
    if (lane >= by) value += before;
  }
  return value;
}

// The sum over the threads before the calling one of a block of kThreads, whole warps. All threads
// call it.
template <int kThreads>
__device__ uint32_t SumOfThreadsBefore(uint32_t value) {
  static_assert(kThreads % 32 == 0);
  __shared__ uint32_t of_warps[kThreads / 32];
  const unsigned warp = threadIdx.x / 32;
  const uint32_t to_here = SumOfLanesTo(value);
  if (threadIdx.x % 32 == 31) of_warps[warp] = to_here;
  __syncthreads();
  uint32_t before = to_here - value;
  for (unsigned w = 0; w < warp; ++w) before += of_warps[w];
  __syncthreads();  // the next call writes there
  return before;
}

}  // namespace torus::parallel::cuda
