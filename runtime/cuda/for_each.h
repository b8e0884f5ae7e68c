// A body for every index of a range, on a GPU. In kernels' sources only.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/cuda/kernel.h"

namespace torus::cuda {

inline constexpr unsigned kForEachThreads = 256;
inline constexpr int64_t kForEachMostBlocks = 4096;  // the threads take several each beyond

// How many blocks share `count` indices.
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

// body(i) for every i in [0, count), in no order. `body` is a functor for the device, copied.
template <class Body>
void ForEach(std::string_view op, int64_t count, StreamHandle stream, const Body& body) {
  if (count <= 0) return;
  Launch(op, ForEachBlocks(count), kForEachThreads, 0, stream, ForEachKernel<Body>, count, body);
}

}  // namespace torus::cuda
