// Runs a train case that is left to itself: from its first parameters to its last.
#pragma once

#include "tools/replay/case.h"
#include "tools/replay/compare.h"

namespace torus::replay {

// Compares every loss and the last parameters. Rounding grows from step to step, and an optimizer
// that divides by the gradient's size (Adam) turns a gradient that is zero but for rounding into
// whole steps of its rate; so how far a run may stray is measured: it is made twice more, each
// step's gradients taken from weights with noise as in rounding_noise.h, and may be off by twice
// the larger distance of these to ours, besides the rounding of its updates.
Comparison RunFree(const Case& c);

}  // namespace torus::replay
