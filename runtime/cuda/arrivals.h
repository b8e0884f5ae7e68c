// How a launch ends what its blocks have begun: of a group of blocks the last to arrive goes on
// with what all of them have written. Only for kernel sources.
//
//   Tensor counters = ArrivalCounters(groups, blocks, device);  // on the host
//   ...
//   parts[group * blocks + block] = ...;
//   if (!ArrivesLast(CountersIn(counters), group, blocks)) return;
//   ... all parts of the group are there
//
// Which block is the last differs from run to run, so it must do the same whichever it is: parts
// are added in the order of their numbers. No block waits for another.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/cuda/elements.h"
#include "runtime/gpu_graph.h"
#include "runtime/kernels.h"
//
#include "runtime/cuda/kernel.h"

namespace torus::cuda {

// A counter for each group of one launch, zero when it begins, and again when it has ended;
// undefined for groups of a single block, which need none. A recorded launch has its own, which are
// written before the graph's first launch alone; those of any other are written before it, in the
// thread's current stream.
inline Tensor ArrivalCounters(int64_t groups, int64_t blocks, Device device) {
  if (blocks <= 1) return {};
  constexpr int64_t kUnit = 32;  // words, of two counters each, that no other launch has
  const int64_t words = (groups / 2 / kUnit + 1) * kUnit;
  if (GpuGraph* graph = GpuGraph::RecordedHere(device))
    return graph->Kept(std::vector<int64_t>(static_cast<size_t>(words)));
  return Zeros({words}, DType::kI64, device);
}

inline uint32_t* CountersIn(Tensor& counters) {
  return reinterpret_cast<uint32_t*>(MutableElementsOrNull<int64_t>(counters));
}

// Whether all of the group's `blocks` blocks have arrived with this one, which can then read what
// they wrote before. All threads of each block call it, once a group. The counters of groups of a
// single block may be null.
__device__ inline bool ArrivesLast(uint32_t* counters, int64_t group, int64_t blocks) {
  if (blocks == 1) {
    __syncthreads();
    return true;
  }
#ifndef __CUDACC__
  return emulated_gpu::ArrivesLast(counters + group, static_cast<uint32_t>(blocks));
#else
  __shared__ bool last;
  __syncthreads();
  // One thread's fences hold for what the others wrote before the barrier, and for what they read
  // behind the next one, as in the barrier of a grid (cooperative groups).
  if (threadIdx.x == 0) {
    const uint32_t most = static_cast<uint32_t>(blocks) - 1;
    __threadfence();
    last = atomicInc(counters + group, most) == most;
    __threadfence();
  }
  __syncthreads();
  return last;
#endif
}

}  // namespace torus::cuda
