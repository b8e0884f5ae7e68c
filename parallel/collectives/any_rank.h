// Logical or: each rank gives one bit, and all get the same result.
#pragma once

#include <string>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// Returns on every rank whether `mine` is true on any. Dissemination, as in Barrier (barrier.h):
// in round k each rank tells rank + 2^k what it knows and hears from rank - 2^k; ceil(log2 n)
// rounds of one byte. Control messages, so they count as no traffic of the run. Adds to
// `waited_seconds` the time in which it waited for others.
bool AnyRank(Transport& transport, bool mine, const std::string& what, double& waited_seconds);

}  // namespace torus::parallel
