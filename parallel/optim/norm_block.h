// The blocks in which gradients' squares are summed.
#pragma once

#include <cstdint>

namespace torus::parallel {

// Elements of a block. Who has a part of a gradient that begins and ends with blocks knows these
// blocks' sums, bit for bit as who has all of it.
inline constexpr int64_t kNormBlock = 1 << 14;

inline constexpr int64_t NormBlocks(int64_t elements) {
  return (elements + kNormBlock - 1) / kNormBlock;
}

}  // namespace torus::parallel
