// Direct all-reduce: each rank receives its chunk from every other rank at once, sums neighbouring
// ranks' terms first and then these sums, and sends the result to all ("pairwise exchange" in
// Thakur, Rabenseifner and Gropp 2005, "Optimization of collective communication operations in
// MPICH", section 4.2, which adds terms as they arrive).
//
//                  rank 0           rank 1           rank 2
//     start         a0 b0 c0         a1 b1 c1         a2 b2 c2
//     sends         b0 c0            a1 c1            a2 b2
//     and adds      a0+a1+a2         b0+b1+b2         c0+c1+c2       (rank r: chunk r)
//     sends         all of a         all of b         all of c       (to both others)
//
// Two steps for any number of ranks. Bytes: rank r sends every chunk but its own once, then its own
// n - 1 times; all ranks together send 2 (n - 1) times the span, as in a ring. The price is n - 1
// messages in flight at once and memory for the terms. Long chunks are split into pieces
// (pieces.h), and the sum of one piece is sent while the next arrives.
//
// Every element's terms are added in the same tree (runtime/binary_counter.h), wherever the element
// lies in the span; for four ranks it is ((0 + 1) + (2 + 3)). Each sum is computed once and copied,
// so all ranks end with the same bits.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "parallel/collectives/pending_collective.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

// Every rank of `transport` calls it with a span of the same length, which may be any, and ends
// with the sum. T is float, double, int64_t or int32_t. Chunks are those of ChunkOf. `what` appears
// in errors, followed by the piece ("..., reduce-scatter 1 of 1"). Ranks that share memory sum
// through it (shared_sum.h), with the same bits.
template <class T>
void DirectAllReduce(Transport& transport, std::span<T> data, const std::string& what);

// Starts a DirectAllReduce with the same bits. All-reduces in flight at the same time have
// different lanes (numbered from 0). Those of the same lane start in the same order on all ranks,
// each after the previous one is done.
template <class T>
std::unique_ptr<PendingCollective> StartDirectAllReduce(Transport& transport, std::span<T> data,
                                                        std::string what, int lane);

// Elements that `rank` sends in an all-reduce of `count` elements: in total, and to one other rank.
int64_t DirectElementsSent(int ranks, int rank, int64_t count);
int64_t DirectElementsSentTo(int ranks, int rank, int to, int64_t count);

}  // namespace torus::parallel
