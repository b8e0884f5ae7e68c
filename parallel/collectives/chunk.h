// How a collective divides a span among the ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace torus::parallel {

// Elements [begin, begin + size) of a span.
struct Chunk {
  int64_t begin = 0;
  int64_t size = 0;
};

// Chunk `index` (taken modulo `ranks`) of `count` elements cut into `ranks` chunks, whose sizes
// differ by at most one element.
Chunk ChunkOf(int64_t count, int ranks, int index);

template <class T>
std::span<T> Part(std::span<T> data, Chunk chunk) {
  return data.subspan(static_cast<size_t>(chunk.begin), static_cast<size_t>(chunk.size));
}

// Chunk `index` of `data`, as ChunkOf.
template <class T>
std::span<T> ChunkOf(std::span<T> data, int ranks, int index) {
  return Part(data, ChunkOf(static_cast<int64_t>(data.size()), ranks, index));
}

// Piece i of that chunk: its elements [i * most, (i + 1) * most), cut off at its end.
template <class T>
std::span<T> PieceOfChunk(std::span<T> data, int ranks, int index, int64_t i, int64_t most) {
  const std::span<T> all = ChunkOf(data, ranks, index);
  const int64_t size = static_cast<int64_t>(all.size()), begin = std::min(i * most, size);
  return Part(all, {begin, std::min(most, size - begin)});
}

}  // namespace torus::parallel
