// The time that a step is predicted to take.
#pragma once

#include "tools/ledger/work.h"

namespace torus::ledger {

struct StepTime {
  double kernels = 0;  // seconds in all of them
  double graph = 0;    // from the first's begin to the last's end, launched as graphs
};

// On an H100 (machine.h). What goes on beside the kernels takes no time of a graph, unless it takes
// more than they do.
StepTime TimeOf(const Works& works);

}  // namespace torus::ledger
