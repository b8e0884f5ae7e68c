// Ring all-reduce (Patarasu and Yuan 2009, "Bandwidth optimal all-reduce algorithms for clusters of
// workstations").
//
// The span is cut into n chunks, one a rank, whose sizes differ by at most one element. In every
// step each rank sends one chunk to its right neighbour and receives one from its left.
//
//   reduce-scatter, n - 1 steps: a chunk travels once around and gathers one term a rank
//
//                  rank 0           rank 1           rank 2
//     start         a0 b0 c0         a1 b1 c1         a2 b2 c2
//     step 1 sends  a0         ->    b1         ->    c2         -> rank 0
//       and gets    c2+c0            a0+a1            b1+b2
//     step 2 sends  c2+c0      ->    a0+a1      ->    b1+b2      -> rank 0
//       and gets    all of b         all of c         all of a       (rank r: chunk r + 1)
//
//   all-gather, n - 1 steps: the finished chunks travel once around, overwriting
//
// Steps: 2 (n - 1). Bytes: rank r sends every chunk twice but chunk r + 1 (not in the
// reduce-scatter) and chunk r + 2 (not in the all-gather); all ranks together send 2 (n - 1) times
// the span, which no algorithm betters.
//
// Each chunk's sum is made once, along the ring from its own rank on, and copied: all ranks end with
// equal bits, and the same ranks and length give the same bits on every run. But with more than two
// ranks the order in which an element's terms are added depends on the chunk that it lies in, hence
// on what else is in the span: cut the model elsewhere, and the rounding differs. Where that
// matters, direct.h adds in rank order.
#pragma once

#include <span>
#include <string>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// Both are called by every rank of `transport` with spans of one length. T is float, double,
// int64_t or int32_t. Chunks are those of ChunkOf. `what` stands in the errors, with the ring's own
// step added ("all-reduce of stage 1, step 17, reduce-scatter 2 of 3").

// After it rank r holds the sum of chunk r + 1; its other chunks hold partial sums.
template <class T>
void RingReduceScatter(Transport& transport, std::span<T> data, const std::string& what);

// Before it rank r holds chunk r + 1; after it every rank holds all.
template <class T>
void RingAllGather(Transport& transport, std::span<T> data, const std::string& what);

}  // namespace torus::parallel
