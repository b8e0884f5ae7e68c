// Reduce: the sum over all ranks, on one of them; and the tree all-reduce.
//
// Pipelined binary tree (Thakur, Rabenseifner and Gropp 2005 name it as MPICH's for short messages;
// the pieces are those of Chan, Heimlich, Purkayastha and van de Geijn 2007, "Collective
// communication: theory, practice, and experience", section 7): a rank adds each piece of its
// children's sums to its own terms and sends it on to its parent (tree.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// Called by every rank of `transport` with spans of one length, of any. After it rank `root` holds
// the sum, ((own terms + the first child's sum) + the second child's); the others hold the sums of
// their part of the tree. Each rank but the root sends the span once. T is float, double, int64_t
// or int32_t. `what` stands in the errors ("..., reduce").
template <class T>
void Reduce(Transport& transport, std::span<T> data, int root, const std::string& what);

// Reduce to rank 0, then Broadcast (broadcast.h): every rank ends with the sum, of equal bits.
// 2 floor(log2 n) steps; an inner rank sends the span three times, so it is for short ones.
template <class T>
void TreeAllReduce(Transport& transport, std::span<T> data, const std::string& what);

// Elements that `rank` sends in an all-reduce of `count`.
int64_t TreeElementsSent(int ranks, int rank, int64_t count);

}  // namespace torus::parallel
