// Fits a pipeline's unknown costs to the measured seconds of whole mini-batches, so that its time
// over other links can be predicted.
#pragma once

#include <vector>

#include "parallel/schedule/cost_model.h"
#include "parallel/schedule/schedule.h"

namespace torus::parallel {

struct MeasuredRun {
  LinkTable links;
  double seconds = 0;  // of a mini-batch; above 0
};

// Lists of kCostLists that are scaled by one common factor: for example forward and backward.
using FreeCosts = std::vector<const CostList*>;

// Returns `costs` with each of `free` scaled by a factor from 1e-9 to 1e9, chosen so that the
// simulated seconds of `runs` are as close as possible to the measured ones: least squares of the
// logarithm of their ratio, that is of the relative error. The search uses no derivatives: it takes
// the best point of a coarse grid, then steps that halve. Throws BadInput if there are fewer runs
// than factors, more than two factors, a list that is empty or all 0, or seconds that are not above
// 0.
CostModel FitCosts(const Schedule& schedule, const CostModel& costs,
                   const std::vector<FreeCosts>& free, const std::vector<MeasuredRun>& runs);

}  // namespace torus::parallel
