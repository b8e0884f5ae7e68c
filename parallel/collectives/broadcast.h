// Broadcast: copies one rank's bytes to all ranks. Barrier: no rank goes on before all have come.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// Copies `data` of rank `root` to every rank along a binomial tree: in each of ceil(log2 n) rounds
// every rank that has the data sends it to one that has not. n - 1 messages in all. All ranks give
// spans of one size. `what` stands in the errors.
void Broadcast(Transport& transport, std::span<std::byte> data, int root, const std::string& what);

// Returns when every rank has called it. Dissemination (Hensgen, Finkel and Manber 1988): in round
// k each rank tells rank + 2^k and hears from rank - 2^k; ceil(log2 n) rounds of empty messages.
void Barrier(Transport& transport, const std::string& what);

}  // namespace torus::parallel
