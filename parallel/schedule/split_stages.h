// For weights that are gathered block by block: a schedule whose stages are cut into finer ones.
#pragma once

#include <vector>

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// The forwards and backwards of `schedule`, with stage s cut into `parts[s]` stages of the same
// rank: a forward becomes theirs in ascending order, a backward, whole or half, theirs in
// descending order. To be lowered anew. BadInput unless there is a count above 0 for each stage.
Schedule SplitStages(const Schedule& schedule, const std::vector<int>& parts);

// Adds to a lowered schedule kGather before and kFree behind each forward and backward.
Schedule GatherAroundCompute(Schedule schedule);

}  // namespace torus::parallel
