// Runs a block for each row of a matrix on a GPU. Only for kernel sources.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/cuda/kernel.h"

namespace torus::cuda {

// Calls Body::Run<kThreads>(row) on all kThreads threads of a block.
template <int kThreads, class Body>
__global__ void RowsKernel(int64_t rows, Body body) {
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) body.template Run<kThreads>(row);
}

// Calls body.Run<kThreads>(row) for every row in [0, rows), in no particular order. `body` is a
// device functor, passed by value.
template <int kThreads, class Body>
void ForEachBlock(std::string_view op, int64_t rows, StreamHandle stream, const Body& body) {
  if (rows <= 0) return;
  constexpr int64_t kMostBlocks = 1 << 16;  // beyond these, each block takes several rows
  Launch(op, static_cast<unsigned>(std::min(rows, kMostBlocks)), kThreads, 0, stream,
         RowsKernel<kThreads, Body>, rows, body);
}

// For rows of n elements. Short rows get a single warp, which needs no barrier.
template <class Body>
void ForEachRow(std::string_view op, int64_t rows, int64_t n, StreamHandle stream,
                const Body& body) {
  if (n <= 256)
    ForEachBlock<32>(op, rows, stream, body);
  else
    ForEachBlock<256>(op, rows, stream, body);
}

}  // namespace torus::cuda
