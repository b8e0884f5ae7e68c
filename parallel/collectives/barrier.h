// Barrier: no rank continues before all have arrived.
#pragma once

#include <string>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// Returns when every rank has called it. Dissemination barrier (Hensgen, Finkel and Manber 1988,
// "Two algorithms for barrier synchronization"): in round k each rank sends an empty message to
// rank + 2^k and receives one from rank - 2^k, in ceil(log2 n) rounds.
void Barrier(Transport& transport, const std::string& what);

}  // namespace torus::parallel
