// Which weights of a tile of attention dropout keeps, one draw for every four keys of a row: lanes
// that hold weights of one draw divide the draws among them and exchange what they give. For kernel
// sources only.
#pragma once

#include <cstdint>

#include "runtime/cuda/block.h"
#include "runtime/cuda/unroll.h"

namespace torus::cuda {

// Of a warp's fragments of 16 x 8 weights (FragmentC of tensor_core.h), side by side.
struct KeptWeights {
  // Element i of fragment `tile`, of the calling lane.
  __device__ bool At(int tile, int i) const { return word[i] >> 4 * tile & 1u; }

  uint32_t word[4];
};

// The lines of the fragments are rows, their columns keys. draw(row, block) returns a bit for each
// of the keys 4 block to 4 block + 3, all counted from the first of the tile. Lane 4g + t holds
// keys 2t and 2t + 1 of rows g and g + 8, so of two neighbouring lanes the even one draws for row g
// and the odd one for row g + 8. All lanes of the warp must call it.
template <int tiles, class Draw>
__device__ KeptWeights KeptByRows(const Draw& draw) {
  static_assert(tiles <= 8);
  const int lane = static_cast<int>(threadIdx.x) % 32, t = lane % 4, odd = t % 2;
  uint32_t own = 0;
  TORUS_UNROLL_BY(2)  // a draw takes many registers
  for (int tile = 0; tile < tiles; ++tile)
    own |= draw(lane / 4 + 8 * odd, 2 * tile + t / 2) << 4 * tile;
  const uint32_t other = ShuffleXor(own, 1);
  const uint32_t upper = (odd != 0 ? other : own) >> 2 * odd;
  const uint32_t lower = (odd != 0 ? own : other) >> 2 * odd;
  return {{upper, upper >> 1, lower, lower >> 1}};
}

// The lines of the fragments are keys, their columns rows. The four lanes 4g + t with the same t
// and g / 4 hold rows 2t and 2t + 1 of the same two blocks of keys: each draws one of the four.
template <int tiles, class Draw>
__device__ KeptWeights KeptByKeys(const Draw& draw) {
  static_assert(tiles <= 8);
  const int lane = static_cast<int>(threadIdx.x) % 32, t = lane % 4, g = lane / 4;
  const int mine = g % 4;  // the element of a fragment whose block this lane draws
  uint32_t own = 0;
  TORUS_UNROLL_BY(2)
  for (int tile = 0; tile < tiles; ++tile)
    own |= draw(8 * tile + 2 * t + mine % 2, g / 4 + mine / 2 * 2) << 4 * tile;
  KeptWeights kept;
  TORUS_UNROLL
  for (int i = 0; i < 4; ++i)
    kept.word[i] = __shfl_sync(kWholeWarp, own, (g / 4 * 4 + i) * 4 + t) >> mine;
  return kept;
}

}  // namespace torus::cuda
