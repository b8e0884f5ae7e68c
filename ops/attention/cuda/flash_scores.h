// From dot products of a warp's tile to scores, and which weights dropout keeps. For kernel sources
// only.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "ops/attention/cuda/flash_tiles.h"
#include "ops/cuda/kept_weights.h"
//
#include "runtime/cuda/block.h"
#include "runtime/cuda/unroll.h"

namespace torus::cuda {

inline constexpr float kLog2E = 1.4426950408889634f;
inline constexpr float kHidden = -std::numeric_limits<float>::infinity();

// 2^x; 0 where that is below the least normal float.
__device__ inline float Exp2(float x) {
#ifndef __CUDA_ARCH__
  return std::exp2(x);
#else
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif
}

// The number of keys that rows before `row` attend to.
template <class T>
__device__ int KeysSeen(const AttentionCall<T>& call, int row) {
  return static_cast<int>(call.KeysSeen(row));
}

// The rows of keys or values from `key` on.
template <class T>
__device__ RowsOfMatrix<const T> KeysFrom(const AttentionCall<T>& call,
                                          const HeadMatrices<const T>& m, int64_t key_head, int key,
                                          int width) {
  return RowsFrom(m, key_head, key, static_cast<int>(call.keys), width);
}

// A block's tile of scores: its query head, first row and first key. The lines of fragments are its
// rows and their columns keys, or, with `by_keys`, the other way round.
struct FlashTile {
  int64_t head;
  int row, key;
};

// The line and the column of element i of a warp's fragment `tile`, counted from the block's.
__device__ inline int LineOf(int i) { return FirstLineOfWarp() + FlashLane() / 4 + i / 2 * 8; }
__device__ inline int ColumnOf(int tile, int i) { return 8 * tile + 2 * (FlashLane() % 4) + i % 2; }

// A bit for each of the 64 keys from `key` on: whether a mask that is the same for all rows lets it
// take part. All lanes of the warp must call it.
template <class T>
__device__ uint64_t AllowedKeys(const ScoreMask<T>& mask, int64_t start, int key, int keys) {
  uint64_t allowed = 0;
  TORUS_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int own = key + 32 * half + FlashLane();
    const bool takes_part = own < keys && mask.allowed[start + own * mask.key_step];
    allowed |= uint64_t{__ballot_sync(kWholeWarp, takes_part)} << 32 * half;
  }
  return allowed;
}

// Scales dot products and applies the mask: -inf for a key that the row does not attend to, or that
// is not there. All lanes of the warp must call it.
template <bool by_keys, class T, int tiles>
__device__ void ToScores(const AttentionCall<T>& call, const FlashTile& at,
                         FragmentC (&scores)[tiles]) {
  constexpr int kRows = by_keys ? 8 * tiles : kFlashLines;
  constexpr int kKeys = by_keys ? kFlashLines : 8 * tiles;
  const int rows = RowsLeft(at.row, static_cast<int>(call.rows)),
            keys = RowsLeft(at.key, static_cast<int>(call.keys));
  // Row i of the tile sees its keys up to i + ahead.
  const int ahead = call.causal && at.row < at.key + kKeys ? at.row - at.key : kKeys;
  const bool all = rows >= kRows && keys >= kKeys && ahead >= kKeys && !call.mask.defined();
  TORUS_UNROLL
  for (int tile = 0; tile < tiles; ++tile) {
    TORUS_UNROLL
    for (float& score : scores[tile].at) score *= call.scale;
  }
  if (all) return;
  const int64_t start = call.mask.Start(at.head);
  const bool of_keys = call.mask.allowed != nullptr && call.mask.row_step == 0;
  const bool each = call.mask.defined() && !of_keys;
  const uint64_t allowed =
      of_keys ? AllowedKeys(call.mask, start, at.key, static_cast<int>(call.keys)) : ~uint64_t{0};
  TORUS_UNROLL
  for (int tile = 0; tile < tiles; ++tile) {
    TORUS_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int line = LineOf(i), column = ColumnOf(tile, i);
      const int row = by_keys ? column : line, key = by_keys ? line : column;
      float& score = scores[tile].at[i];
      if (row >= rows || key >= keys || key > row + ahead || (allowed >> key & 1u) == 0)
        score = kHidden;
      else if (each)
        score = call.mask.Masked(score, start, at.row + row, at.key + key);
    }
  }
}

// Which weights of the tile dropout keeps. All lanes of the warp must call it.
template <bool by_keys, int tiles, class T>
__device__ KeptWeights KeptInTile(const AttentionCall<T>& call, const FlashTile& at) {
  const HeadDropout dropout = call.dropout.OfHead(at.head);
  const int line = FirstLineOfWarp();
  if constexpr (by_keys) {
    const int first = (at.key + line) / 4;
    return KeptByKeys<tiles>(
        [&](int row, int block) { return dropout.Kept(at.row + row, first + block); });
  } else {
    const int first = at.key / 4;
    return KeptByRows<tiles>(
        [&](int row, int block) { return dropout.Kept(at.row + line + row, first + block); });
  }
}

}  // namespace torus::cuda
