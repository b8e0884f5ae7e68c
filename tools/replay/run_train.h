// Runs a train case: N steps.
#pragma once

#include "tools/replay/case.h"
#include "tools/replay/compare.h"

namespace torus::replay {

// Compares every loss. With "restart", also compares the parameters, the momentum and the running
// statistics that the case holds after every step; without, the last parameters (free_run.h).
// Throws Unsupported for an optimizer or a model that Torus does not have.
Comparison RunTrain(const Case& c);

}  // namespace torus::replay
