// Runs a train case: N steps, each from its own state.
#pragma once

#include "tools/replay/case.h"
#include "tools/replay/compare.h"

namespace torus::replay {

// Compares every loss, and after every step the parameters, the momentum and the running statistics that the case holds.
// Unsupported for optimizers other than SGD, and for a free run (without "restart"): with batch norm, rounding grows about tenfold a
// step, so it says nothing.
Comparison RunTrain(const Case& c);

}  // namespace torus::replay
