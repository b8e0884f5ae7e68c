// Tile products by a block of 256 threads: thread (y, x) of 16 x 16 has the elements in rows y + 16
// i and columns x + 16 j. For kernel sources only.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/cuda/rows.h"

namespace torus::cuda {

inline constexpr int kTileThreads = 256, kTileSide = 16;
inline constexpr int kTile = 64;      // rows and keys of a tile of scores
inline constexpr int kColumns = 128;  // of the result, per block
inline constexpr int kPerThread = kTile / kTileSide, kColumnsPerThread = kColumns / kTileSide;

// Columns staged in shared memory at a time, chosen so that all shared memory stays within 48 KiB.
template <class T>
inline constexpr int kStep = sizeof(T) == sizeof(float) ? 16 : 8;

// One column more than needed, so that rows start in different banks.
template <class T>
using ScoreTile = T[kTile][kTile + 1];
template <class T>
using Stage = T[2 * kTile * (kStep<T> + 1)];

// Rows of a matrix; those from `count` on read as zeros.
template <class T>
struct TileRows {
  const T* data;
  int64_t stride, count;
};

__device__ inline int TileRow(int i) { return static_cast<int>(threadIdx.x) / kTileSide + 16 * i; }
__device__ inline int TileColumn(int j) {
  return static_cast<int>(threadIdx.x) % kTileSide + 16 * j;
}

// Copies columns [first, first + kStep) of 64 rows of `width` elements to `to`.
template <class T>
__device__ void StageRows(const TileRows<T>& rows, int64_t first, int64_t width, T* to) {
  constexpr int kWide = kStep<T>;
  for (int at = threadIdx.x; at < kTile * kWide; at += kTileThreads) {
    const int row = at / kWide, column = at % kWide;
    const bool inside = row < rows.count && first + column < width;
    to[row * (kWide + 1) + column] = inside ? rows.data[row * rows.stride + first + column] : T(0);
  }
}

// dots[i][j] = dot product of row TileRow(i) of a and row TileColumn(j) of b, over `width`
// elements.
template <class T>
__device__ void TileDots(const TileRows<T>& a, const TileRows<T>& b, int64_t width, Stage<T>& stage,
                         T (&dots)[kPerThread][kPerThread]) {
  constexpr int kWide = kStep<T>;
  T *const left = stage, *const right = stage + kTile * (kWide + 1);
  for (auto& row : dots)
    for (T& dot : row) dot = T(0);
  for (int64_t first = 0; first < width; first += kWide) {
    StageRows(a, first, width, left);
    StageRows(b, first, width, right);
    __syncthreads();
    for (int e = 0; e < kWide; ++e) {
      T l[kPerThread], r[kPerThread];
      for (int i = 0; i < kPerThread; ++i) l[i] = left[TileRow(i) * (kWide + 1) + e];
      for (int j = 0; j < kPerThread; ++j) r[j] = right[TileColumn(j) * (kWide + 1) + e];
      for (int i = 0; i < kPerThread; ++i)
        for (int j = 0; j < kPerThread; ++j) dots[i][j] += l[i] * r[j];
    }
    __syncthreads();
  }
}

template <class T>
using TileSums = T[kPerThread][kColumnsPerThread];

template <class T>
__device__ void Clear(TileSums<T>& sums) {
  for (auto& row : sums)
    for (T& sum : row) sum = T(0);
}

// sums[i][j] += dot product of row TileRow(i) of `tile`, or of its transpose, and column first +
// TileColumn(j) of the matrix `rows`, whose rows have `width` elements; there is at least one row.
// All threads must have written their part of the tile before the call; it starts and ends with a
// barrier.
template <bool transposed, class T>
__device__ void AddWeighted(const ScoreTile<T>& tile, const TileRows<T>& rows, int64_t first,
                            int64_t width, Stage<T>& stage, TileSums<T>& sums) {
  constexpr int kDeep = kStep<T>;
  static_assert(kDeep * kColumns <= static_cast<int>(sizeof(Stage<T>) / sizeof(T)));
  for (int from = 0; from < kTile && from < rows.count; from += kDeep) {
    __syncthreads();
    for (int at = threadIdx.x; at < kDeep * kColumns; at += kTileThreads) {
      const int row = from + at / kColumns, column = at % kColumns;
      const bool inside = row < rows.count && first + column < width;
      stage[at] = inside ? rows.data[row * rows.stride + first + column] : T(0);
    }
    __syncthreads();
    for (int e = 0; e < kDeep; ++e) {
      T l[kPerThread];
      for (int i = 0; i < kPerThread; ++i)
        l[i] = transposed ? tile[from + e][TileRow(i)] : tile[TileRow(i)][from + e];
      for (int j = 0; j < kColumnsPerThread; ++j) {
        const T r = stage[e * kColumns + TileColumn(j)];
        for (int i = 0; i < kPerThread; ++i) sums[i][j] += l[i] * r;
      }
    }
  }
  __syncthreads();
}

// Stores to[row][first + column] = factor * sums for the first `count` rows.
template <class T>
__device__ void StoreSums(const TileSums<T>& sums, T factor, int64_t count, int64_t first,
                          int64_t width, T* to, int64_t stride) {
  for (int i = 0; i < kPerThread; ++i)
    for (int j = 0; j < kColumnsPerThread; ++j)
      if (TileRow(i) < count && first + TileColumn(j) < width)
        to[TileRow(i) * stride + first + TileColumn(j)] = factor * sums[i][j];
}

// Numbers the tasks, one per block: heads, then tiles of rows, then parts of the columns.
struct TileTasks {
  TileTasks(int64_t heads, int64_t rows, int64_t width)
      : heads(heads),
        tiles((rows + kTile - 1) / kTile),
        parts(std::max<int64_t>(1, (width + kColumns - 1) / kColumns)) {}
  __device__ int64_t Head(int64_t task) const { return task / parts / tiles; }
  __device__ int64_t Row(int64_t task) const { return task / parts % tiles * kTile; }
  __device__ int64_t Column(int64_t task) const { return task % parts * kColumns; }

  int64_t heads, tiles, parts;
};

// Calls body.Run<kTileThreads>(task) for each task, with one block each.
template <class Body>
void ForEachTile(std::string_view op, const TileTasks& tasks, StreamHandle stream,
                 const Body& body) {
  ForEachBlock<kTileThreads>(op, tasks.heads * tasks.tiles * tasks.parts, stream, body);
}

}  // namespace torus::cuda
