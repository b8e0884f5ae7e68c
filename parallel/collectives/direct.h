// Direct reduce-scatter: each rank gets its chunk of every other rank at once and adds in rank order
// ("pairwise exchange" in Thakur, Rabenseifner and Gropp 2005, "Optimization of collective
// communication operations in MPICH", which adds as terms arrive).
//
//                  rank 0           rank 1           rank 2
//     start         a0 b0 c0         a1 b1 c1         a2 b2 c2
//     sends         a0 c0            a1 b1            b2 c2
//     and adds      b0+b1+b2         c0+c1+c2         a0+a1+a2       (rank r: chunk r + 1)
//
// Rank r sends every chunk but chunk r + 1: the bytes of the ring's reduce-scatter. What it costs is
// n - 1 messages under way at once and room for the terms of a chunk (at most 1 MiB from each other
// rank, since long chunks go in pieces). Every element is ((term of rank 0 + term of rank 1) + ...),
// wherever it lies in the span.
#pragma once

#include <span>
#include <string>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// Called by every rank of `transport` with spans of one length. T is float, double, int64_t or
// int32_t. After it rank r holds the sum of chunk r + 1 (ChunkOf); its other chunks are unchanged.
// `what` stands in the errors, with the piece added ("..., reduce-scatter 1 of 1").
template <class T>
void DirectReduceScatter(Transport& transport, std::span<T> data, const std::string& what);

}  // namespace torus::parallel
