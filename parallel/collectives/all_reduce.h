// All-reduce: every rank ends with the sum over all ranks. The one factory of its algorithms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// Ours give all ranks equal bits, and differ in steps, in bytes, and in the order of sums, hence in
// rounding where there are more than two ranks.
enum class AllReduceAlgorithm : uint8_t {
  kDirect,           // in pairs of neighbours (direct.h)
  kRing,             // along the ring (ring.h): bits depend on an element's place in the span
  kHalvingDoubling,  // in a tree over the ranks (halving_doubling.h)
  kTree,             // in a binary tree (reduce.h)
  kEngine,           // by the library under the transport (engine_all_reduce.h)
};

// "direct", ...; each with what it is, in a few words.
std::vector<std::pair<std::string, std::string>> AllReduceDescriptions();
std::vector<std::string> AllReduceNames();
// BadInput with the list of names for an unknown one.
AllReduceAlgorithm AllReduceByName(std::string_view name);

// Called by every rank of `transport` with spans of one length. Every rank ends with the same sum,
// by ours bit for bit. T is float, double, int64_t or int32_t. `what` stands in the errors, with
// the step of the algorithm added ("..., all-gather 2 of 3").
template <class T>
void AllReduce(Transport& transport, std::span<T> data, const std::string& what,
               AllReduceAlgorithm algorithm = AllReduceAlgorithm::kDirect);

// Payload bytes that `rank` sends in an all-reduce of `count` elements of `element_bytes`; 0 by an
// engine, which does not tell.
uint64_t AllReduceBytesSent(AllReduceAlgorithm algorithm, int ranks, int rank, int64_t count,
                            size_t element_bytes);

}  // namespace torus::parallel
