// Which GPU a rank computes on.
#pragma once

#include "parallel/transport/transport.h"

namespace torus::parallel {

// Assigns GPUs round-robin: the n-th rank of a host gets the n-th GPU that its process can use,
// modulo their number. Throws BadInput if there is none.
Device GpuInTurn(const Transport& transport);

}  // namespace torus::parallel
