// Runs a case of one operator.
#pragma once

#include "tools/replay/case.h"
#include "tools/replay/compare.h"

namespace torus::replay {

// Forward, then backward from the given "grad_out.I"; compares "out.I", "grad_in.X" and "after.X".
// Unsupported for an operator or an argument that is not known.
Comparison RunOp(const Case& c);

}  // namespace torus::replay
