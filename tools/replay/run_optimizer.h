// Runs a case of an optimizer alone.
#pragma once

#include "tools/replay/case.h"
#include "tools/replay/compare.h"

namespace torus::replay {

// Compares the parameter after each step. Unsupported for optimizers that we have not.
Comparison RunOptimizer(const Case& c);

}  // namespace torus::replay
