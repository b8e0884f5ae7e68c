// The rules that one stage's actions keep among themselves. The verifier's own part.
#pragma once

#include <vector>

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// Checks the actions of `stage` in the order its rank runs them (verifier.h lists the rules).
// `owners`: the rank of each stage. Returns the most micro-batches that are between their forward
// and the end of their backward at one time.
int CheckStage(const Schedule& schedule, const std::vector<int>& owners, int stage);

}  // namespace torus::parallel
