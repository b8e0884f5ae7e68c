// One rank's bytes to all, and a point that nobody passes before all have come.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// Copies `data` of rank `root` to every rank along a binomial tree: ceil(log2 n) rounds, and in
// each the ranks that have it serve as many that have not. n - 1 times the payload in all. Spans of
// one size on every rank.
void Broadcast(Transport& transport, std::span<std::byte> data, int root, const std::string& what);

// Returns when every rank has called it. Dissemination (Hensgen, Finkel and Manber 1988): in round
// k each rank tells rank + 2^k and hears from rank - 2^k; ceil(log2 n) rounds of empty messages.
void Barrier(Transport& transport, const std::string& what);

}  // namespace torus::parallel
