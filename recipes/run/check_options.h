// Checks a run's options, as far as that is possible before any data are read.
#pragma once

#include "recipes/run/run.h"

namespace torus::recipes {

// Returns the options completed by what follows from others: stages from a list of cuts, Nesterov
// off without momentum. Throws BadInput, in one
// line that names settings by their flags, if a value is out of range or values contradict each
// other. What depends on the model and the data is checked later.
RunOptions CheckedOptions(RunOptions options);

}  // namespace torus::recipes
