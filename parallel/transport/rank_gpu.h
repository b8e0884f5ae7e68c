// Which GPU a rank computes on.
#pragma once

#include "parallel/transport/transport.h"

namespace torus::parallel {

// The GPUs of a host go to its ranks in turn: of the n-th rank there it is the n-th, counted round
// the GPUs that its process can use. BadInput where there is none.
Device GpuInTurn(const Transport& transport);

}  // namespace torus::parallel
