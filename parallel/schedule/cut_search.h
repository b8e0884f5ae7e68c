// The dynamic program behind BestCuts. Its own part.
#pragma once

#include <vector>

#include "parallel/schedule/cost_model.h"
#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// Every rank has one stage, and runs all its forwards before its backwards.
bool ForwardsFirst(const Schedule& schedule);

// The best cuts where a mini-batch takes the sum of all stages and links, (micro-batches - 1) times
// the slowest, reductions and steps (best_cuts.h). `apart`: the slowest forward and the slowest
// backward are two, as where forwards come first; else that of both together is meant. `blocks` has
// passed CheckCosts, and its forward and backward are given; there are as many blocks as stages.
// Where ranks have several stages, `limits` must be empty.
std::vector<int> SearchCuts(const Schedule& schedule, const CostModel& blocks,
                            const std::vector<double>& limits, bool apart);

}  // namespace torus::parallel
