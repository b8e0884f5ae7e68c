// Direct all-reduce: each rank gets its chunk of every other rank at once, adds neighbouring ranks
// first and then their sums, and sends the sum to all ("pairwise exchange" in Thakur, Rabenseifner
// and Gropp 2005, "Optimization of collective communication operations in MPICH", section 4.2,
// which adds as terms arrive).
//
//                  rank 0           rank 1           rank 2
//     start         a0 b0 c0         a1 b1 c1         a2 b2 c2
//     sends         b0 c0            a1 c1            a2 b2
//     and adds      a0+a1+a2         b0+b1+b2         c0+c1+c2       (rank r: chunk r)
//     sends         all of a         all of b         all of c       (to both others)
//
// Two steps, however many ranks. Bytes: rank r sends every chunk but its own once, then its own
// n - 1 times; all ranks together send 2 (n - 1) times the span, as the ring. What it costs is n -
// 1 messages under way at once and room for the terms: long chunks go in pieces (pieces.h), and the
// sum of one is sent on while the next arrives.
//
// Every element is the sum of the ranks' terms in one tree (runtime/binary_counter.h): of four
// ranks ((0 + 1) + (2 + 3)), wherever it lies in the span; made once and copied, so all ranks end
// with equal bits.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// All are called by every rank of `transport` with spans of one length, of any. T is float, double,
// int64_t or int32_t. Chunks are those of ChunkOf. `what` stands in the errors, with the piece
// added ("..., reduce-scatter 1 of 1").

// After it rank r holds the sum of chunk r; its other chunks are unchanged.
template <class T>
void DirectReduceScatter(Transport& transport, std::span<T> data, const std::string& what);

// Before it rank r holds chunk r; after it every rank holds all.
template <class T>
void DirectAllGather(Transport& transport, std::span<T> data, const std::string& what);

// Both, interleaved piece by piece: every rank ends with the sum. Where the ranks share memory they
// sum through it (shared_sum.h), to the same bits.
template <class T>
void DirectAllReduce(Transport& transport, std::span<T> data, const std::string& what);

// An all-reduce that has been started and is carried on between other work.
class PendingAllReduce {
 public:
  virtual ~PendingAllReduce() = default;
  // Sums and sends what has come, without waiting; whether all is done.
  virtual bool Advance() = 0;
  // Waits for the rest.
  virtual void Finish() = 0;
};

// A DirectAllReduce of the same bits. `data` stays allocated, and nobody else uses it, until it is
// done. Several under way at once have different lanes (from 0); those of one lane are started in
// one order on all ranks, each when the one before is done.
template <class T>
std::unique_ptr<PendingAllReduce> StartDirectAllReduce(Transport& transport, std::span<T> data,
                                                       std::string what, int lane);

// Elements that `rank` sends in an all-reduce of `count`: in all, and to one other rank.
int64_t DirectElementsSent(int ranks, int rank, int64_t count);
int64_t DirectElementsSentTo(int ranks, int rank, int to, int64_t count);

}  // namespace torus::parallel
