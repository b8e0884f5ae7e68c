// Runs a train case: N steps.
#pragma once

#include "tools/replay/case.h"
#include "tools/replay/compare.h"

namespace torus::replay {

// Compares every loss; with "restart", also the parameters, the momentum and the running statistics
// that the case holds after every step; without, the last parameters (free_run.h). Unsupported for
// an optimizer or a model that we have not.
Comparison RunTrain(const Case& c);

}  // namespace torus::replay
