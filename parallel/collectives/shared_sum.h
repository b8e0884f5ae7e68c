// All-reduce of ranks that share memory (Transport::SharedBuffersOf): the direct algorithm
// (direct.h), with its bits and its bytes, but each rank puts its terms and its sums where the
// others read them.
//
//     shows its terms of every chunk but its own   (once all have taken the sums before)
//     adds everyone's terms of its own chunk, and shows the sum   (once all show their terms)
//     takes the sums of the other chunks           (once all show their sums)
//
// Each rank raises its mark three times per piece. Each element that leaves a rank is copied twice.
#pragma once

#include <span>
#include <string>

#include "parallel/transport/shared_buffers.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

// The shared memory of all ranks of `transport`; null if they share none, or there is one rank.
SharedBuffers* SharedBuffersOfAll(Transport& transport);

// Every rank of `transport` calls it with a span of the same length; `buffers` is the result of
// SharedBuffersOfAll. T is float, double, int64_t or int32_t. `what` appears in errors, followed by
// the piece.
template <class T>
void SharedAllReduce(Transport& transport, SharedBuffers& buffers, std::span<T> data,
                     const std::string& what);

}  // namespace torus::parallel
