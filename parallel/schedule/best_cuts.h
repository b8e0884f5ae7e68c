// Finds the cuts of a list of blocks with which a mini-batch of a schedule takes the least time.
#pragma once

#include <vector>

#include "parallel/schedule/cost_model.h"
#include "parallel/schedule/schedule.h"
#include "parallel/schedule/simulator.h"

namespace torus::parallel {

struct CutPlan {
  std::vector<int> cuts;  // first block of each stage but the first
  CostModel costs;        // of the stages
  Simulation simulation;  // of the schedule with these costs
};

// Cuts `blocks` into the stages of `schedule` (which is lowered) so that the simulated makespan is
// least and no rank's peak memory exceeds its entry of `limits`, in bytes (empty: no limits). The
// lists of `blocks` have one entry per block instead of one per stage; a block's boundary bytes and
// codec times are those of a cut right after it. The links are those between the schedule's ranks.
//
// If the schedule runs all forwards before the backwards, with one stage per rank, the result is
// the optimum (for links without jitter), found by dynamic programming. Such a mini-batch takes the
// sum of the times of all stages and links, plus (micro-batches - 1) times the slowest forward and
// the slowest backward among them, plus reductions and optimizer steps. For each number of last
// stages and each block at which they can begin, the search keeps every way to cut them that no
// other way beats or equals in all parts of that sum. For other schedules a local search follows:
// it moves one cut, or two neighbouring cuts, as long as the simulation improves. It starts from
// the best cuts for that sum, and again from those for the sum with the slowest forward and
// backward taken together.
//
// Throws BadInput if there are fewer blocks than stages, if CheckCosts fails, or if no cut was
// found that keeps the limits (the message then names the cut that comes nearest).
CutPlan BestCuts(const Schedule& schedule, const CostModel& blocks,
                 const std::vector<double>& limits = {});

}  // namespace torus::parallel
