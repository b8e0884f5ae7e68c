// How blocks and threads share a channels-last matrix (rows, channels): packs of neighbouring
// channels, which are loaded at once, and parts of the rows. Only for kernel sources.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/dtype.h"
#include "runtime/tensor.h"
//
#include "runtime/cuda/divide.h"
#include "runtime/cuda/pack_floats.h"
#include "runtime/cuda/unroll.h"

namespace torus::cuda {

// Packs of a warp's neighbouring threads; the others of a block take other rows.
inline constexpr int kTilePacks = 8;
inline constexpr int kPartThreads = 256;
inline constexpr int kTileLanes = kPartThreads / kTilePacks;  // rows that a block reads at once

// For sums over rows: blocks of kTilePacks packs by parts of the rows.
struct RowParts {
  int64_t rows, of_part;
  int parts, channels;

  // As many parts as keep a large GPU busy, and none of fewer rows than its lanes take four times.
  static RowParts Of(int64_t rows, int64_t channels, int pack) {
    constexpr int64_t kBlocks = 528, kLeastRows = 4 * kTileLanes;
    const int64_t chunks = ChunksOf(channels, pack),
                  most = std::max<int64_t>(1, kBlocks / std::max<int64_t>(1, chunks)),
                  parts = std::clamp<int64_t>(rows / kLeastRows, 1, most);
    const int64_t of_part = std::max<int64_t>(1, (rows + parts - 1) / parts);
    return {rows, of_part, static_cast<int>((std::max<int64_t>(1, rows) - 1) / of_part + 1),
            static_cast<int>(channels)};
  }
  static int64_t ChunksOf(int64_t channels, int pack) {
    const int64_t chunk = int64_t{kTilePacks} * pack;
    return (channels + chunk - 1) / chunk;
  }
  int64_t chunks(int pack) const { return ChunksOf(channels, pack); }
  int64_t blocks(int pack) const { return chunks(pack) * parts; }

  TORUS_HOST_DEVICE int64_t begin(int part) const { return part * of_part; }
  TORUS_HOST_DEVICE int64_t end(int part) const {
    const int64_t end = (part + 1) * of_part;
    return end < rows ? end : rows;
  }
};

// What a thread of such a block takes.
template <int pack>
struct TileThread {
  static constexpr int kChunk = kTilePacks * pack;  // channels
  int chunk, part, channel;                         // the first of its pack
  int64_t row, end;                                 // every kTileLanes-th row

  __device__ static TileThread Of(const RowParts& rows, int64_t block) {
    const Divided at = Divide(block, rows.parts);
    const int chunk = static_cast<int>(at.quotient), part = static_cast<int>(at.rest);
    return {chunk, part, (chunk * kTilePacks + static_cast<int>(threadIdx.x) % kTilePacks) * pack,
            rows.begin(part) + threadIdx.x / kTilePacks, rows.end(part)};
  }
  // The channel whose parts it merges, where its block is the chunk's last; perhaps none.
  __device__ int64_t Merged() const {
    return int64_t{chunk} * kChunk + static_cast<int64_t>(threadIdx.x) % kChunk;
  }
};

// Rows whose loads a thread begins before it uses the first.
inline constexpr int kTileBurst = 4;

// For passes over elements: a thread takes a pack of channels of kTileBurst rows that lie far
// apart, so that neighbouring threads read neighbouring memory in each of them.
template <int pack>
struct ElementRows {
  int64_t rows, channels;

  int64_t apart() const { return (rows + kTileBurst - 1) / kTileBurst; }
  int64_t count() const { return apart() * (channels / pack); }

  struct Place {
    int64_t row;
    int channel;
  };
  __device__ Place At(int64_t i) const {
    const Divided at = Divide(i, channels / pack);
    return {at.quotient, static_cast<int>(at.rest) * pack};
  }
};

// Calls f(integral constant) with the pack for tensors of T with so many channels: four elements,
// or as many as have 16 bytes, if that divides the channels and each tensor (null: none) begins at
// a multiple of it; else 1.
template <class T, class F>
void VisitPack(int64_t channels, std::initializer_list<const T*> tensors, const F& f) {
  constexpr int kPack = sizeof(T) == 8 ? 2 : 4;
  const bool aligned = std::ranges::all_of(tensors, [](const T* elements) {
    return reinterpret_cast<uintptr_t>(elements) % (kPack * sizeof(T)) == 0;
  });
  channels % kPack == 0 && aligned ? f(std::integral_constant<int, kPack>())
                                   : f(std::integral_constant<int, 1>());
}

}  // namespace torus::cuda
