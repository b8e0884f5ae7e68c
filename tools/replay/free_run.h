// Runs a train case without restarts: from its first parameters to its last.
#pragma once

#include "tools/replay/case.h"
#include "tools/replay/compare.h"

namespace torus::replay {

// Compares every loss and the last parameters. Rounding errors grow from step to step, and an
// optimizer that divides by the gradient's size (Adam) turns a gradient that is zero but for
// rounding into steps of its full rate. So the allowed distance is measured: the run is repeated
// twice, with each step's gradients computed from weights with noise as in rounding_noise.h. The
// result may be off by twice the larger distance of these runs to ours, plus the rounding of the
// updates.
Comparison RunFree(const Case& c);

}  // namespace torus::replay
