// Runs a case of one operator.
#pragma once

#include "tools/replay/case.h"
#include "tools/replay/compare.h"

namespace torus::replay {

// Runs forward, then backward from the given "grad_out.I", and compares "out.I", "grad_in.X" and
// "after.X". Throws Unsupported for an unknown operator or argument.
Comparison RunOp(const Case& c);

}  // namespace torus::replay
