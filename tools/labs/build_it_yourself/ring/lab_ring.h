// Lab "ring": all-reduce in a ring (Patarasuk and Yuan 2009, "Bandwidth optimal all-reduce
// algorithms for clusters of workstations"). You write AllReduceMean.
//
// The n = wire.size() ranks stand in a ring; each sends to its right neighbour, rank + 1 (the last
// one to rank 0), and receives from its left one. `data` has the same length on all ranks and is
// cut into n chunks: chunk c begins at element ChunkBegin(c) and ends before ChunkBegin(c + 1).
//
//   reduce-scatter, n - 1 steps: rank r begins with sending its chunk r - 1. In each step it
//     receives the chunk before that, adds its own values to it, and sends the sum in the next
//     step. In the end rank r holds the whole sum of chunk r; it divides it by n.
//   all-gather, n - 1 steps: rank r begins with sending chunk r; each step passes on what the step
//     before has brought, until every rank holds all chunks.
//
// So chunk c is added in the order of the ring, from rank c + 1 on: ((x[c+1] + x[c+2]) + ...) +
// x[c]. All chunk numbers are meant modulo n. What is graded:
//   values   every rank ends with the mean over the ranks, for any n and any length, also 0
//   bytes    no rank sends more than 2 (n - 1) chunks, and to its right neighbour alone
//   steps    no message waits for more than 2 (n - 1) - 1 others before it
//   memory   besides `data` a rank needs room for one chunk; two are allowed
#pragma once

#include <cstddef>
#include <span>

#include "lab_wire.h"

namespace lab {

// Chunks differ by one element at most; the longer ones come first. `count`: elements of `data`.
inline size_t ChunkBegin(size_t count, int ranks, int chunk) {
  const size_t n = static_cast<size_t>(ranks), c = static_cast<size_t>(chunk);
  const size_t longer = count % n;
  return c * (count / n) + (c < longer ? c : longer);
}

// Replaces data[i] by the mean of the ranks' data[i]. All ranks call it together.
void AllReduceMean(Wire& wire, std::span<float> data);

}  // namespace lab
