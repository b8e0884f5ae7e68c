// What a step's parts take once a run is warm.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/trace.h"

namespace torus::experiments {

// Seconds a step by category ("forward", "backward", "transfer", "reduce", "optimizer", "data",
// "idle"), the mean over the ranks and over the traced steps from the third on: the first two take
// memory from the system and make the optimizer's state. "wall": from a step's first event to its
// last. Of a shorter run its last step. Empty without events of steps.
std::map<std::string, double> SteadyTimes(const std::vector<trace::Event>& events);

}  // namespace torus::experiments
