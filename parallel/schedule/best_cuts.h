// Where to cut a list of blocks so that a mini-batch of a schedule takes the least time.
#pragma once

#include <vector>

#include "parallel/schedule/cost_model.h"
#include "parallel/schedule/schedule.h"
#include "parallel/schedule/simulator.h"

namespace torus::parallel {

struct CutPlan {
  std::vector<int> cuts;  // first block of each stage but the first
  CostModel costs;        // of the stages
  Simulation simulation;  // of the schedule with them
};

// Cuts blocks into the stages of `schedule`, lowered, so that Simulate gives the least makespan and
// no rank a peak above its entry of `limits`, in bytes; empty: no limits. `blocks` has an entry for
// each block in place of a stage; what a boundary costs, and its codec, are those of the cut behind
// the block. Links are those of the schedule's ranks.
//
// Of a schedule that runs all forwards before its backwards, with one stage a rank, the result is
// the best that there is (with links without jitter), by dynamic programming: such a mini-batch
// takes the sum of all stages and links, (micro-batches - 1) times the slowest forward and the
// slowest backward among them, reductions and steps; for each number of last stages and each block
// that they begin at, all that no other way to cut them betters in every part of that sum is kept.
// For other schedules that sum, and the one with the slowest of forward and backward together, are
// where a search begins that moves a cut, or two neighbours, while the simulation gets better.
//
// BadInput for fewer blocks than stages, the errors of CheckCosts, and where no cut was found that
// keeps the limits: it names the one that comes nearest.
CutPlan BestCuts(const Schedule& schedule, const CostModel& blocks,
                 const std::vector<double>& limits = {});

}  // namespace torus::parallel
