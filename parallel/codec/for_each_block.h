// Processes the values of a tensor in blocks, on the calling thread's team.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/parallel_for.h"

namespace torus::parallel {

// Values per block: their codes stay in the L1 cache, and they fill whole bytes at any number of
// bits.
inline constexpr int64_t kCodecBlock = 2048;

// Calls body(begin, end) for each block of kCodecBlock values; the last block may be smaller.
template <class Body>
void ForEachBlock(int64_t count, const Body& body) {
  constexpr int64_t kBlocksPerThread = 16;  // fewer are not worth waking a thread
  const int64_t blocks = (count + kCodecBlock - 1) / kCodecBlock;
  ParallelFor(blocks, kBlocksPerThread, [&](int64_t first, int64_t last) {
    for (int64_t block = first; block < last; ++block)
      body(block * kCodecBlock, std::min(count, (block + 1) * kCodecBlock));
  });
}

}  // namespace torus::parallel
