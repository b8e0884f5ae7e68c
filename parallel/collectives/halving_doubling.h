// Recursive halving-doubling all-reduce (Rabenseifner's; Thakur, Rabenseifner and Gropp 2005,
// "Optimization of collective communication operations in MPICH", section 4.5).
//
// Among p = 2^k ranks the span is cut into p chunks.
//
//                  rank 0           rank 1           rank 2           rank 3
//     start         a0 b0 c0 d0      a1 b1 c1 d1      a2 b2 c2 d2      a3 b3 c3 d3
//     halve         with rank 2      with rank 3      with rank 0      with rank 1
//       and gets    a02 b02          a13 b13          c20 d20          c31 d31
//     halve         with rank 1      with rank 0      with rank 3      with rank 2
//       and gets    all of a         all of b         all of c         all of d
//     double        with rank 1      with rank 0      with rank 3      with rank 2
//       and gets    a b              a b              c d              c d
//     double        with rank 2      with rank 3      with rank 0      with rank 1
//
// k halvings: each rank exchanges with the one p/2, p/4, ..., 1 away the half that it will not own,
// and adds the other. k doublings, backwards: the two exchange what they own. 2 k steps, and the
// bytes of the ring where p divides the length.
//
// Other numbers are folded to the largest p = 2^k below n. Of the first 2 (n - p) ranks 2i and
// 2i + 1 are a pair: the even one sends its second half and the odd one its first, each adds what
// it gets, and the odd one sends its half of the sum back. The even ones and those above the pairs
// go through the steps as ranks 0 .. p - 1; at the end each even one sends all to its odd one.
//
// An element's terms are added in one tree over the ranks, the same wherever the element lies in
// the span; each sum is made once and copied, so all ranks end with equal bits. The tree is not
// direct.h's order.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// Called by every rank of `transport` with spans of one length, of any. T is float, double, int64_t
// or int32_t. Every rank ends with the sum. `what` stands in the errors, with the step added ("...,
// halving 2 of 3").
template <class T>
void HalvingDoublingAllReduce(Transport& transport, std::span<T> data, const std::string& what);

// Elements that `rank` sends in an all-reduce of `count`.
int64_t HalvingDoublingElementsSent(int ranks, int rank, int64_t count);

}  // namespace torus::parallel
