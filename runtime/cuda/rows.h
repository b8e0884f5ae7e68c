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

// body.Run<kThreads>(row) for every row in [0, rows), in no order. `body` is a functor for the
// device, copied.
template <int kThreads, class Body>
void ForEachBlock(std::string_view op, int64_t rows, StreamHandle stream, const Body& body) {
  if (rows <= 0) return;
  constexpr int64_t kMostBlocks = 1 << 16;  // each takes several rows beyond
  Launch(op, static_cast<unsigned>(std::min(rows, kMostBlocks)), kThreads, 0, stream,
         RowsKernel<kThreads, Body>, rows, body);
}

// For rows of n elements: short ones get a warp, which needs no barrier.
template <class Body>
void ForEachRow(std::string_view op, int64_t rows, int64_t n, StreamHandle stream,
                const Body& body) {
  if (n <= 256)
    ForEachBlock<32>(op, rows, stream, body);
  else
    ForEachBlock<256>(op, rows, stream, body);
}

}  // namespace torus::cuda
