// Runs a body for every index of a range on a GPU. Only for kernel sources.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/cuda/kernel.h"

namespace torus::cuda {

inline constexpr unsigned kForEachThreads = 256;
inline constexpr int64_t kForEachMostBlocks = 4096;  // beyond, a thread takes several indices

// The number of blocks for `count` indices.
inline unsigned ForEachBlocks(int64_t count) {
  constexpr int64_t threads = kForEachThreads;
  return static_cast<unsigned>(
      std::min(kForEachMostBlocks, std::max<int64_t>(1, (count - 1) / threads + 1)));
}

// A grid-stride loop: neighbouring threads take neighbouring indices.
template <class Body>
__global__ void ForEachKernel(int64_t count, Body body) {
  const int64_t stride = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) body(i);
}

// Calls body(i) for every i in [0, count), in no particular order. `body` is a device functor,
// passed by value.
template <class Body>
void ForEach(std::string_view op, int64_t count, StreamHandle stream, const Body& body) {
  if (count <= 0) return;
  Launch(op, ForEachBlocks(count), kForEachThreads, 0, stream, ForEachKernel<Body>, count, body);
}

}  // namespace torus::cuda
