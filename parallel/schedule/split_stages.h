// Splits the stages of a schedule into finer ones, so that weights can be gathered block by block.
#pragma once

#include <vector>

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// Returns the forwards and backwards of `schedule` with stage s split into `parts[s]` stages on the
// same rank. A forward becomes the forwards of the parts in ascending order; a backward, whole or
// half, becomes theirs in descending order. The result has to be lowered again. Throws BadInput
// unless `parts` has a number above 0 for each stage.
Schedule SplitStages(const Schedule& schedule, const std::vector<int>& parts);

// Adds kGather before and kFree after each forward and backward of a lowered schedule.
Schedule GatherAroundCompute(Schedule schedule);

}  // namespace torus::parallel
