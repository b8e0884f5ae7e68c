// Lab "ring": all-reduce in a ring (Patarasuk and Yuan 2009, "Bandwidth optimal all-reduce
// algorithms for clusters of workstations"). You write AllReduceMean.
//
// The n = wire.size() ranks form a ring: rank r sends to its right neighbour, rank r + 1, and
// receives from its left neighbour, rank r - 1. `data` has the same length on all ranks and is cut
// into n chunks: chunk c begins at element ChunkBegin(c) and ends before ChunkBegin(c + 1). Ranks
// and chunks count modulo n: the right neighbour of the last rank is rank 0.
//
//   reduce-scatter, n - 1 steps: in the first step rank r sends its chunk r - 1. In each step it
//     receives the chunk before the one it has just sent, adds its own values, and sends that sum
//     in the next step. At the end rank r holds the complete sum of chunk r, and divides it by n.
//   all-gather, n - 1 steps: in the first step rank r sends chunk r. In each later step it sends on
//     what it received in the step before, until every rank holds all chunks.
//
// So chunk c is added in the order of the ring, starting with rank c + 1:
//   ((x[c+1] + x[c+2]) + ...) + x[c]
// What is graded:
//   values   every rank ends with the mean over the ranks, for any n and any length, including 0
//   bytes    each rank sends at most 2 (n - 1) chunks
//   steps    ranks send only to their right neighbour. The longest chain of messages, each sent
//            after the one before it arrived, has at most 2 (n - 1)
//   order    chunks are added in the order of the ring
//   memory   besides `data` a rank needs room for one chunk; two chunks and 4096 bytes are allowed
//   leak     nothing stays allocated from one call to the next
#pragma once

#include <cstddef>
#include <span>

#include "lab_wire.h"

namespace lab {

// The first element of a chunk; `count` is the length of `data`. Chunk lengths differ by at most
// one element, and the longer chunks come first.
inline size_t ChunkBegin(size_t count, int ranks, int chunk) {
  const size_t n = static_cast<size_t>(ranks), c = static_cast<size_t>(chunk);
  const size_t longer = count % n;
  return c * (count / n) + (c < longer ? c : longer);
}

// Replaces each data[i] by the mean of data[i] over the ranks. All ranks call it together.
void AllReduceMean(Wire& wire, std::span<float> data);

}  // namespace lab
