// What can be said of a run's options before any data are read.
#pragma once

#include "recipes/run/run.h"

namespace torus::recipes {

// The options with what follows from others filled in: stages from a list of cuts, threads (0: the
// cores, at least one a rank), Nesterov's momentum off where there is none. BadInput in one line,
// naming settings by their flags, for a value out of range and for values that contradict each
// other; what the model and the data must say is checked later.
RunOptions CheckedOptions(RunOptions options);

}  // namespace torus::recipes
