// A block for each row of a matrix, on a GPU. In kernels' sources only.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/cuda/kernel.h"

namespace torus::cuda {

// Body::Run<kThreads>(row) on all kThreads threads of a block.
template <int kThreads, class Body>
__global__ void RowsKernel(int64_t rows, Body body) {
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) body.template Run<kThreads>(row);
}

// For rows of n elements: short ones get a warp, which needs no barrier.
template <class Body>
void ForEachRow(std::string_view op, int64_t rows, int64_t n, StreamHandle stream,
                const Body& body) {
  if (rows <= 0) return;
  constexpr int64_t kMostBlocks = 1 << 16;  // each takes several rows beyond
  const unsigned blocks = static_cast<unsigned>(std::min(rows, kMostBlocks));
  if (n <= 256)
    Launch(op, blocks, 32, 0, stream, RowsKernel<32, Body>, rows, body);
  else
    Launch(op, blocks, 256, 0, stream, RowsKernel<256, Body>, rows, body);
}

}  // namespace torus::cuda
