// Tiles of 16-bit matrices in shared memory, and products of them by tensor cores, for a block of
// four warps that share a tile of scores: each has 16 of its 64 lines. For kernel sources only.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <string_view>

#include "ops/attention/cuda/attention_call.h"
#include "runtime/cuda/pack_floats.h"
#include "runtime/cuda/tensor_core.h"
#include "runtime/error.h"
//
#include "runtime/cuda/async_copy.h"
#include "runtime/cuda/unroll.h"

namespace torus::cuda {

inline constexpr int kFlashThreads = 128;
inline constexpr int kFlashLines = 64;  // of a block's tile
inline constexpr int kWarpLines = 16;

// Calls body.Run(head, tile) for every tile of every head, with a block each. As many registers as
// let Body::kBlocks blocks of one multiprocessor run at once. Blocks are numbered in 32 bits: GPUs
// divide by 64 slowly, and each block begins with divisions.
template <class Body>
__global__ void __launch_bounds__(kFlashThreads, Body::kBlocks)
    FlashKernel(uint32_t tiles, Body body) {
  body.Run(blockIdx.x / tiles, static_cast<int>(blockIdx.x % tiles));
}

// For heads of `lines` rows or keys.
template <class Body>
void ForEachFlashTile(std::string_view op, int64_t heads, int64_t lines, StreamHandle stream,
                      const Body& body) {
  const int64_t tiles = (lines + kFlashLines - 1) / kFlashLines, count = heads * tiles;
  if (count == 0) return;
  Require(count <= std::numeric_limits<int32_t>::max(), op, "at most 2^31 - 1 tiles, got {}",
          count);
  Launch(op, static_cast<unsigned>(count), kFlashThreads, 0, stream, FlashKernel<Body>,
         static_cast<uint32_t>(tiles), body);
}

__device__ inline int FlashLane() { return static_cast<int>(threadIdx.x) % 32; }
__device__ inline int FirstLineOfWarp() { return static_cast<int>(threadIdx.x) / 32 * kWarpLines; }

// `rows` x `width` elements in shared memory. Chunk c of 16 bytes of row r lies where chunk c XOR
// (r % 8) would, so that neighbouring rows of one chunk lie in different banks.
template <class T, int rows, int width>
struct SharedTile {
  static_assert(sizeof(T) == 2 && width % 64 == 0);
  static constexpr int kChunk = 8, kChunks = width / kChunk;
  static constexpr int kBytes = rows * width * 2;

  __device__ T* Chunk(int row, int chunk) const {
    return reinterpret_cast<T*>(bytes) + row * width + (chunk ^ (row & 7)) * kChunk;
  }

  unsigned char* bytes;  // aligned to 16
};

// The first `rows` rows, and the first `width` elements of each, of part of a matrix.
template <class T>
struct RowsOfMatrix {
  T* data;
  int64_t stride;
  int rows, width;
  bool vectors;  // HasWholeVectors
};

// From `row` on; no more than a tile can have.
__device__ inline int RowsLeft(int row, int end) {
  return end - row < kFlashLines ? end - row : kFlashLines;
}

// The rows from `row` on, up to `end`, of the head's matrix of `m` that begins at `matrix`. Finding
// that takes divisions, so it is done once.
template <class T>
__device__ RowsOfMatrix<T> RowsFrom(const HeadMatrices<T>& m, T* matrix, int row, int64_t end,
                                    int64_t width) {
  return {matrix + row * m.stride, m.stride, RowsLeft(row, static_cast<int>(end)),
          static_cast<int>(width), m.vectors};
}

// The tile's chunk `at` of rows that are no vectors: element by element.
template <class T, int rows, int width>
__device__ void CopyChunk(const RowsOfMatrix<const T>& from, int at,
                          const SharedTile<T, rows, width>& to) {
  using Tile = SharedTile<T, rows, width>;
  const int row = at / Tile::kChunks, chunk = at % Tile::kChunks, first = chunk * Tile::kChunk;
  const T* const source = from.data + row * from.stride + first;
  T* const place = to.Chunk(row, chunk);
  for (int k = 0; k < Tile::kChunk; ++k)
    place[k] = row < from.rows && first + k < from.width ? source[k] : T();
}

// Starts to copy to `to`, with zeros where `from` has nothing. The block's threads wait for it by
// ArriveAtTiles.
template <class T, int rows, int width>
__device__ void CopyToTile(const RowsOfMatrix<const T>& from,
                           const SharedTile<T, rows, width>& to) {
  using Tile = SharedTile<T, rows, width>;
  constexpr int kCount = rows * Tile::kChunks;
  const int thread = static_cast<int>(threadIdx.x);
  if (!from.vectors) {
    // In a loop, which takes few registers.
    TORUS_UNROLL_BY(1)
    for (int at = thread; at < kCount; at += kFlashThreads) CopyChunk(from, at, to);
    return;
  }
  TORUS_UNROLL
  for (int i = 0; i < kCount / kFlashThreads; ++i) {
    const int at = thread + i * kFlashThreads;
    const int row = at / Tile::kChunks, chunk = at % Tile::kChunks;
    const bool there = row < from.rows && chunk * Tile::kChunk < from.width;
    CopyAsync16(to.Chunk(row, chunk), from.data + row * from.stride + chunk * Tile::kChunk, there);
  }
}

// What the block's threads have copied is there, and all have done what they did before.
__device__ inline void ArriveAtTiles() {
  WaitForCopies();
  __syncthreads();
}

// The warp's 16 lines of columns 16 step to 16 step + 15.
template <class T, int rows, int width>
__device__ FragmentA LinesOfWarp(const SharedTile<T, rows, width>& tile, int step) {
  const int lane = FlashLane();
  FragmentA a;
  LoadMatrices(tile.Chunk(FirstLineOfWarp() + lane % 16, 2 * step + lane / 16), a.word);
  return a;
}

// sums += A B^T, where the warp's A is a(step), 16 lines by 16 columns for each step, and the rows
// of B are those of the tile.
template <int steps, class T, int rows, int width, class A>
__device__ void AddProductsWithRows(const A& a, const SharedTile<T, rows, width>& b,
                                    FragmentC (&sums)[rows / 8]) {
  const int lane = FlashLane();
  TORUS_UNROLL
  for (int step = 0; step < steps; ++step) {
    const FragmentA lines = a(step);
    TORUS_UNROLL
    for (int pair = 0; pair < rows / 16; ++pair) {
      uint32_t word[4];
      LoadMatrices(b.Chunk(16 * pair + lane / 16 * 8 + lane % 8, 2 * step + lane / 8 % 2), word);
      AddProduct<T>(lines, FragmentB{{word[0], word[1]}}, sums[2 * pair]);
      AddProduct<T>(lines, FragmentB{{word[2], word[3]}}, sums[2 * pair + 1]);
    }
  }
}

// sums += A B, where the warp's A is a(step) for each 16 rows of the tile, which is B.
template <class T, int rows, int width, class A>
__device__ void AddProductsWithColumns(const A& a, const SharedTile<T, rows, width>& b,
                                       FragmentC (&sums)[width / 8]) {
  const int lane = FlashLane();
  TORUS_UNROLL
  for (int step = 0; step < rows / 16; ++step) {
    const FragmentA lines = a(step);
    TORUS_UNROLL
    for (int pair = 0; pair < width / 16; ++pair) {
      uint32_t word[4];
      LoadTransposedMatrices(b.Chunk(16 * step + lane % 16, 2 * pair + lane / 16), word);
      AddProduct<T>(lines, FragmentB{{word[0], word[1]}}, sums[2 * pair]);
      AddProduct<T>(lines, FragmentB{{word[2], word[3]}}, sums[2 * pair + 1]);
    }
  }
}

template <class T>
__device__ uint32_t RoundedWord(float first, float second) {
  return std::bit_cast<uint32_t>(RoundPack<T>(Wide<float, 2>{{first, second}}));
}

// Columns 16 step to 16 step + 15 of 16 x 8 sums side by side, rounded, as the left operand of a
// product: a lane holds the same elements of both.
template <class T, int tiles>
__device__ FragmentA RoundedLines(const FragmentC (&sums)[tiles], int step) {
  const FragmentC &left = sums[2 * step], &right = sums[2 * step + 1];
  return {{RoundedWord<T>(left.at[0], left.at[1]), RoundedWord<T>(left.at[2], left.at[3]),
           RoundedWord<T>(right.at[0], right.at[1]), RoundedWord<T>(right.at[2], right.at[3])}};
}

// Writes one chunk of the tile as far as `to` has it.
template <class T, int rows, int width>
__device__ void WriteChunk(const SharedTile<T, rows, width>& tile, int row, int chunk,
                           const RowsOfMatrix<T>& to) {
  using Tile = SharedTile<T, rows, width>;
  const int left = to.width - chunk * Tile::kChunk;
  if (row >= to.rows || left <= 0) return;
  const T* const from = tile.Chunk(row, chunk);
  T* const place = to.data + row * to.stride + chunk * Tile::kChunk;
  if (to.vectors) {
    using Vector = Pack<T, Tile::kChunk>;
    *reinterpret_cast<Vector*>(place) = *reinterpret_cast<const Vector*>(from);
    return;
  }
  for (int k = 0; k < Tile::kChunk && k < left; ++k) place[k] = from[k];
}

// Writes the warp's 16 lines of sums, times the factor of the lane's upper and lower line, to the
// lines with the same numbers of `to`. They go by way of the warp's lines of `tile`, which no other
// warp may use any more, so that 16 bytes are written at once.
template <class T, int rows, int width>
__device__ void WriteLines(const FragmentC (&sums)[width / 8], float upper, float lower,
                           const SharedTile<T, rows, width>& tile, const RowsOfMatrix<T>& to) {
  using Tile = SharedTile<T, rows, width>;
  const int lane = FlashLane(), first = FirstLineOfWarp(), pair = 2 * (lane % 4);
  const int line = first + lane / 4;
  TORUS_UNROLL
  for (int c = 0; c < Tile::kChunks; ++c) {
    const float(&at)[4] = sums[c].at;
    *reinterpret_cast<uint32_t*>(tile.Chunk(line, c) + pair) =
        RoundedWord<T>(at[0] * upper, at[1] * upper);
    *reinterpret_cast<uint32_t*>(tile.Chunk(line + 8, c) + pair) =
        RoundedWord<T>(at[2] * lower, at[3] * lower);
  }
  __syncwarp();
  TORUS_UNROLL_BY(1)
  for (int at = lane; at < kWarpLines * Tile::kChunks; at += 32)
    WriteChunk(tile, first + at / Tile::kChunks, at % Tile::kChunks, to);
}

}  // namespace torus::cuda
