// The blocks in which gradients' squares are summed.
#pragma once

#include <cstdint>

namespace torus::parallel {

// Elements of a block. A rank that has only some whole blocks of a gradient computes the same sums
// of these blocks, bit for bit, as a rank that has all of it.
inline constexpr int64_t kNormBlock = 1 << 14;

// How many blocks hold so many elements; the last may be shorter.
inline constexpr int64_t NormBlocks(int64_t elements) {
  return (elements + kNormBlock - 1) / kNormBlock;
}

}  // namespace torus::parallel
