// Reduce: the sum over all ranks, on one of them. Also the tree all-reduce.
//
// Pipelined binary tree (Thakur, Rabenseifner and Gropp 2005 name it as MPICH's for short messages;
// the pipelining is that of Chan, Heimlich, Purkayastha and van de Geijn 2007, "Collective
// communication: theory, practice, and experience", section 7): a rank adds each piece of its
// children's sums to its own terms and sends the result to its parent (tree.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// Every rank of `transport` calls it with a span of the same length, which may be any. After it
// rank `root` holds the sum, ((own terms + the first child's sum) + the second child's); every
// other rank holds the sum over its subtree. Each rank but the root sends the span once. T is
// float, double, int64_t or int32_t. `what` appears in errors ("..., reduce").
template <class T>
void Reduce(Transport& transport, std::span<T> data, int root, const std::string& what);

// Reduce to rank 0, then Broadcast (broadcast.h): every rank ends with the sum, with the same bits.
// It takes 2 floor(log2 n) steps, but an inner rank sends the span three times, so it suits short
// spans.
template <class T>
void TreeAllReduce(Transport& transport, std::span<T> data, const std::string& what);

// Elements that `rank` sends in an all-reduce of `count`.
int64_t TreeElementsSent(int ranks, int rank, int64_t count);

}  // namespace torus::parallel
