// Recursive halving-doubling all-reduce (Rabenseifner's; Thakur, Rabenseifner and Gropp 2005,
// "Optimization of collective communication operations in MPICH", section 4.5).
//
// With p = 2^k ranks the span is divided into p chunks.
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
// k halvings, with partners p/2, p/4, ..., 1 ranks away: each rank sends its partner the half that
// it will not own, and adds the other half, which it receives. k doublings, in the reverse order:
// the partners exchange what they own. That is 2 k steps, and as many bytes as the ring if p
// divides the length.
//
// Other numbers of ranks are reduced to the largest p = 2^k below n. The first 2 (n - p) ranks form
// pairs 2i and 2i + 1. The even rank sends its second half and the odd one its first; each adds
// what it receives, and the odd one sends its half of the sum back. The even ranks and those after
// the pairs then run the steps above as ranks 0 .. p - 1. At the end each even rank sends the whole
// result to its odd one.
//
// Every element's terms are added in the same tree over the ranks, wherever it lies in the span;
// each sum is computed once and copied, so all ranks end with the same bits. The tree differs from
// that of direct.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// Every rank of `transport` calls it with a span of the same length, which may be any, and ends
// with the sum. T is float, double, int64_t or int32_t. `what` appears in errors, followed by the
// step ("..., halving 2 of 3").
template <class T>
void HalvingDoublingAllReduce(Transport& transport, std::span<T> data, const std::string& what);

// Elements that `rank` sends in an all-reduce of `count`.
int64_t HalvingDoublingElementsSent(int ranks, int rank, int64_t count);

}  // namespace torus::parallel
