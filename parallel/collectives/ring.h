// Ring all-reduce (Patarasuk and Yuan 2009, "Bandwidth optimal all-reduce algorithms for clusters
// of workstations").
//
// The span is divided into n chunks, one per rank, whose sizes differ by at most one element. In
// every step each rank sends one chunk to its right neighbour and receives one from its left. A
// piece of a chunk is sent on as soon as it has been summed (pieces.h).
//
//   reduce-scatter, n - 1 steps: a chunk travels once around and gathers one term per rank
//
//                  rank 0           rank 1           rank 2
//     start         a0 b0 c0         a1 b1 c1         a2 b2 c2
//     step 1 sends  c0         ->    a1         ->    b2         -> rank 0
//       and gets    b2+b0            c0+c1            a1+a2
//     step 2 sends  b2+b0      ->    c0+c1      ->    a1+a2      -> rank 0
//       and gets    all of a         all of b         all of c         (rank r: chunk r)
//
//   all-gather, n - 1 steps: the finished chunks travel once around, overwriting
//
// Steps: 2 (n - 1). Bytes: rank r sends every chunk twice, except chunk r (not in the
// reduce-scatter) and chunk r + 1 (not in the all-gather). All ranks together send 2 (n - 1) times
// the span, which is the minimum.
//
// Each chunk's sum is computed once, along the ring from the rank after its owner, and copied. So
// all ranks end with the same bits, and the same ranks and length give the same bits on every run.
// But with more than two ranks the order in which an element's terms are added depends on its
// chunk, and so on what else is in the span: if the model is cut elsewhere, the rounding differs.
// If that matters, use direct.h, whose order is fixed.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// Every rank of `transport` calls these with spans of the same length, which may be any. T is
// float, double, int64_t or int32_t. Chunks are those of ChunkOf. `what` appears in errors,
// followed by the ring's own step ("all-reduce of stage 1, step 17, reduce-scatter 2 of 3").

// After it rank r holds the sum of chunk r; its other chunks hold partial sums.
template <class T>
void RingReduceScatter(Transport& transport, std::span<T> data, const std::string& what);

// Before it rank r holds chunk r; after it every rank holds all.
template <class T>
void RingAllGather(Transport& transport, std::span<T> data, const std::string& what);

// One after the other: every rank ends with the sum.
template <class T>
void RingAllReduce(Transport& transport, std::span<T> data, const std::string& what);

// Elements that `rank` sends in an all-reduce of `count`.
int64_t RingElementsSent(int ranks, int rank, int64_t count);

}  // namespace torus::parallel
