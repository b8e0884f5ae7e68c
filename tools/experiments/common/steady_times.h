// The times of a step's parts after the warm-up.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/trace.h"

namespace torus::experiments {

// Seconds per step by category ("forward", "backward", "transfer", "reduce", "optimizer", "data",
// "idle"), as the mean over the ranks and over the traced steps from the third on, since the first
// two allocate memory and create the optimizer's state. For a shorter run: its last step. "wall" is
// the time from a step's first event to its last. Empty if there are no events of steps.
std::map<std::string, double> SteadyTimes(const std::vector<trace::Event>& events);

}  // namespace torus::experiments
