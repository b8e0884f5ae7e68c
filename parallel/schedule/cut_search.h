// The dynamic program behind BestCuts. Internal to it.
#pragma once

#include <vector>

#include "parallel/schedule/cost_model.h"
#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// Whether every rank has one stage and runs all its forwards before its backwards.
bool ForwardsFirst(const Schedule& schedule);

// Returns the best cuts if a mini-batch takes the sum of all stages and links, (micro-batches - 1)
// times the slowest of them, reductions and steps (best_cuts.h). `apart`: the slowest forward and
// the slowest backward are found separately, as is right where all forwards come first; otherwise
// the slowest sum of both is used. `blocks` has passed CheckCosts, its forward and backward are not
// empty, and there are at least as many blocks as stages. `limits` must be empty if ranks have
// several stages.
std::vector<int> SearchCuts(const Schedule& schedule, const CostModel& blocks,
                            const std::vector<double>& limits, bool apart);

}  // namespace torus::parallel
