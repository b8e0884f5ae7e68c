// From dot products of a warp's tile to scores, and which weights dropout keeps. For kernel sources
// only.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "ops/attention/cuda/flash_tiles.h"
//
#include "ops/attention/cuda/kept_weights.h"
#include "runtime/cuda/block.h"
#include "runtime/cuda/unroll.h"

namespace torus::cuda {

inline constexpr float kLog2E = 1.4426950408889634f;
inline constexpr float kHidden = -std::numeric_limits<float>::infinity();

// 2^x; on a GPU 0 where that is below the least normal float.
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

// The first row of a tile. With a causal mask later rows see more keys, so that their blocks begin
// first.
__device__ inline int FirstRowOf(int tile, int64_t rows) {
  return (static_cast<int>((rows - 1) / kFlashLines) - tile) * kFlashLines;
}

// The head of keys of a query head.
template <class T>
__device__ uint32_t KeyHeadOf(const AttentionCall<T>& call, uint32_t number) {
  return number / static_cast<uint32_t>(call.group);
}

// What the scores of a query head need: found once, not for each tile.
template <class T>
struct FlashHead {
  __device__ FlashHead(const AttentionCall<T>& call, uint32_t number)
      : number(number),
        key(call.k.At(KeyHeadOf(call, number), 0)),
        value(call.v.At(KeyHeadOf(call, number), 0)),
        mask(call.mask.Start(number)) {
    if (call.dropout.streams != nullptr) dropout = call.dropout.OfHead(number);
  }

  uint32_t number;
  const T *key, *value;  // the matrices
  int64_t mask;          // where its mask starts
  HeadDropout dropout{};
};

// The same in shared memory, where it takes no registers: `bytes` are aligned to 16. The block's
// threads may read it after the next barrier.
template <class T>
__device__ const FlashHead<T>& SharedHead(const AttentionCall<T>& call, uint32_t number,
                                          unsigned char (&bytes)[sizeof(FlashHead<T>)]) {
  auto* const head = reinterpret_cast<FlashHead<T>*>(bytes);
  if (threadIdx.x == 0) *head = FlashHead<T>(call, number);
  return *head;
}

// A block's tile of scores: its first row and first key. The lines of fragments are its rows and
// their columns keys, or, with `by_keys`, the other way round.
struct FlashTile {
  int row, key;
};

// The line and the column of element i of a warp's fragment `tile`, counted from the block's.
__device__ inline int LineOf(int i) { return FirstLineOfWarp() + FlashLane() / 4 + i / 2 * 8; }
__device__ inline int ColumnOf(int tile, int i) { return 8 * tile + 2 * (FlashLane() % 4) + i % 2; }

// Whether a bool mask is the same for all rows, as that of padding is.
template <class T>
__device__ bool HidesKeys(const ScoreMask<T>& mask) {
  return mask.allowed != nullptr && mask.row_step == 0;
}

// A bit for each of the 64 keys from `key` on: whether it is there and not hidden by such a mask.
// All lanes of the warp must call it.
template <class T>
__device__ uint64_t AllowedKeys(const AttentionCall<T>& call, int64_t mask, int key) {
  const int keys = RowsLeft(key, static_cast<int>(call.keys));
  if (!HidesKeys(call.mask)) return keys < 64 ? (uint64_t{1} << keys) - 1 : ~uint64_t{0};
  uint64_t allowed = 0;
  TORUS_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int own = 32 * half + FlashLane();
    const bool takes_part =
        own < keys && call.mask.allowed[mask + (key + own) * call.mask.key_step];
    allowed |= uint64_t{__ballot_sync(kWholeWarp, takes_part)} << 32 * half;
  }
  return allowed;
}

// `seen` without the tiles of keys at its end of which such a mask hides all: padding is not
// computed. All lanes of the warp must call it.
template <class T>
__device__ int WithoutPadding(const AttentionCall<T>& call, int64_t mask, int seen) {
  if (!HidesKeys(call.mask)) return seen;
  int tiles = (seen + kFlashLines - 1) / kFlashLines;
  while (tiles > 0 && AllowedKeys(call, mask, (tiles - 1) * kFlashLines) == 0) --tiles;
  return tiles * kFlashLines < seen ? tiles * kFlashLines : seen;
}

// Applies a mask that has a value for each row and key.
template <bool by_keys, class T, int tiles>
__device__ void MaskEach(const AttentionCall<T>& call, const FlashHead<T>& head,
                         const FlashTile& at, FragmentC (&scores)[tiles]) {
  const int rows = RowsLeft(at.row, static_cast<int>(call.rows)),
            keys = RowsLeft(at.key, static_cast<int>(call.keys));
  TORUS_UNROLL
  for (int tile = 0; tile < tiles; ++tile) {
    TORUS_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int line = LineOf(i), column = ColumnOf(tile, i);
      const int row = by_keys ? column : line, key = by_keys ? line : column;
      float& score = scores[tile].at[i];
      if (row < rows && key < keys)
        score = call.mask.Masked(score, head.mask, at.row + row, at.key + key);
    }
  }
}

// Scales dot products and applies the mask: -inf for a key that the row does not attend to, or that
// is not there. All lanes of the warp must call it.
template <bool by_keys, class T, int tiles>
__device__ void ToScores(const AttentionCall<T>& call, const FlashHead<T>& head,
                         const FlashTile& at, FragmentC (&scores)[tiles]) {
  constexpr int kKeys = by_keys ? kFlashLines : 8 * tiles;
  TORUS_UNROLL
  for (int tile = 0; tile < tiles; ++tile) {
    TORUS_UNROLL
    for (float& score : scores[tile].at) score *= call.scale;
  }
  // Row i of the tile sees its keys up to i + ahead.
  const int ahead = call.causal && at.row < at.key + kKeys ? at.row - at.key : kKeys;
  if (at.key + kKeys <= call.keys && ahead == kKeys && !call.mask.defined()) return;
  // From the lane's first key on.
  const uint64_t allowed =
      AllowedKeys(call, head.mask, at.key) >> (by_keys ? LineOf(0) : ColumnOf(0, 0));
  TORUS_UNROLL
  for (int tile = 0; tile < tiles; ++tile) {
    TORUS_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int line = LineOf(i), column = ColumnOf(tile, i);
      const int row = by_keys ? column : line, key = by_keys ? line : column;
      const int place = by_keys ? i / 2 * 8 : 8 * tile + i % 2;
      const bool hidden = (allowed >> place & 1u) == 0 || key > row + ahead;
      scores[tile].at[i] = hidden ? kHidden : scores[tile].at[i];
    }
  }
  if (call.mask.defined() && !HidesKeys(call.mask)) MaskEach<by_keys>(call, head, at, scores);
}

// Which weights of the tile dropout keeps. All lanes of the warp must call it.
template <bool by_keys, int tiles>
__device__ KeptWeights KeptInTile(const HeadDropout& dropout, const FlashTile& at) {
  const int line = FirstLineOfWarp();
  const int row = by_keys ? at.row : at.row + line;
  const int block = (by_keys ? at.key + line : at.key) / 4;
  const auto draw = [&](int r, int b) { return dropout.Kept(row + r, block + b); };
  if constexpr (by_keys)
    return KeptByKeys<tiles>(draw);
  else
    return KeptByRows<tiles>(draw);
}

}  // namespace torus::cuda
