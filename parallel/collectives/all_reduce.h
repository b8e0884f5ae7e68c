// All-reduce: every rank ends with the sum over all ranks. This header lists all algorithms.
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

// All but kEngine give every rank the same bits. They differ in steps, in bytes, and in the order
// of the sum, so the rounding differs if there are more than two ranks.
enum class AllReduceAlgorithm : uint8_t {
  kDirect,           // sums pairs of neighbouring ranks first (direct.h)
  kRing,             // sums along the ring (ring.h): bits depend on an element's place in the span
  kHalvingDoubling,  // sums in a tree over the ranks (halving_doubling.h)
  kTree,             // sums in a binary tree (reduce.h)
  kEngine,           // by the transport's own library (engine_all_reduce.h)
};

// Names ("direct", ...), each with a short description.
std::vector<std::pair<std::string, std::string>> AllReduceDescriptions();
std::vector<std::string> AllReduceNames();
// Throws BadInput, with the list of names, if the name is unknown.
AllReduceAlgorithm AllReduceByName(std::string_view name);

// Every rank of `transport` calls it with a span of the same length. Every rank ends with the sum;
// all but kEngine give all ranks the same bits. T is float, double, int64_t or int32_t. `what`
// appears in errors, followed by the step of the algorithm ("..., all-gather 2 of 3").
template <class T>
void AllReduce(Transport& transport, std::span<T> data, const std::string& what,
               AllReduceAlgorithm algorithm = AllReduceAlgorithm::kDirect);

// Payload bytes that `rank` sends in an all-reduce of `count` elements of `element_bytes`. 0 for
// kEngine, which does not report them.
uint64_t AllReduceBytesSent(AllReduceAlgorithm algorithm, int ranks, int rank, int64_t count,
                            size_t element_bytes);

}  // namespace torus::parallel
