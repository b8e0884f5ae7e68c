// The rules for the actions of one stage. Internal to the verifier.
#pragma once

#include <vector>

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// Checks the actions of `stage` in the order its rank runs them (verifier.h lists the rules).
// `owners`: the rank of each stage. Returns the largest number of micro-batches that are in flight
// at one time, from a forward to the end of its backward.
int CheckStage(const Schedule& schedule, const std::vector<int>& owners, int stage);

}  // namespace torus::parallel
