// Runs a case of an optimizer alone.
#pragma once

#include "tools/replay/case.h"
#include "tools/replay/compare.h"

namespace torus::replay {

// Compares the parameter after each step. Throws Unsupported for optimizers that Torus does not
// have.
Comparison RunOptimizer(const Case& c);

}  // namespace torus::replay
