// Barrier: no rank goes on before all have come.
#pragma once

#include <string>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// Returns when every rank has called it. Dissemination (Hensgen, Finkel and Manber 1988, "Two
// algorithms for barrier synchronization"): in round k each rank tells rank + 2^k and hears from
// rank - 2^k; ceil(log2 n) rounds of empty messages.
void Barrier(Transport& transport, const std::string& what);

}  // namespace torus::parallel
