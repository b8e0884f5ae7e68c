// All-reduce: every rank ends with the sum over all ranks. A reduce-scatter, direct or along the
// ring, then the ring's all-gather.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// Both send the same bytes and give all ranks equal bits. They differ in the order of sums, and so
// in rounding, where there are more than two ranks.
enum class AllReduceAlgorithm : uint8_t {
  kDirect,  // in rank order (direct.h): an element's sum does not depend on its place in the span
  kRing,    // along the ring (ring.h): it does, so bits depend on where the model is cut
};

// "direct", "ring".
std::vector<std::string> AllReduceNames();
// BadInput with the list of names for an unknown one.
AllReduceAlgorithm AllReduceByName(std::string_view name);

enum class ReduceOp : uint8_t {
  kSum,
  kMean,  // the sum divided by the ranks; floating types only
};

// Called by every rank of `transport` with spans of one length. Every rank ends with the same sum
// (or mean), bit for bit. T is float, double, int64_t or int32_t. `what` stands in the errors, with
// the step of the algorithm added ("..., all-gather 2 of 3"). BadInput for a mean of integers.
template <class T>
void AllReduce(Transport& transport, std::span<T> data, const std::string& what,
               AllReduceAlgorithm algorithm = AllReduceAlgorithm::kDirect,
               ReduceOp op = ReduceOp::kSum);

// Payload bytes that `rank` sends in an all-reduce of `count` elements of `element_bytes`, with
// either algorithm.
uint64_t AllReduceBytesSent(int ranks, int rank, int64_t count, size_t element_bytes);

}  // namespace torus::parallel
