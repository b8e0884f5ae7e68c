// The all-reduce of the library under a transport (parallel/transport/engine.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "parallel/transport/engine.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

// The engine of all ranks of `transport`; null if it has none. All ranks make the first call
// together.
Engine* EngineOfAll(Transport& transport);

// Every rank of `transport` calls it with a span of the same length and ends with the sum. T is
// float, double, int64_t or int32_t. Throws BadInput if the transport has no engine and more than
// one rank.
template <class T>
void EngineAllReduce(Transport& transport, std::span<T> data, const std::string& what);

// Always 0: the library does not report what it sends, and Transport::BytesSent does not count it.
int64_t EngineElementsSent(int ranks, int rank, int64_t count);

}  // namespace torus::parallel
