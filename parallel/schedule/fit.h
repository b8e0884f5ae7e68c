// Costs of a pipeline that nobody has measured apart, fitted to measured seconds of whole
// mini-batches; so that those on other links can be predicted.
#pragma once

#include <vector>

#include "parallel/schedule/cost_model.h"
#include "parallel/schedule/schedule.h"

namespace torus::parallel {

struct MeasuredRun {
  LinkTable links;
  double seconds = 0;  // of a mini-batch; above 0
};

// Lists of kCostLists that are scaled by one factor: for example forward and backward.
using FreeCosts = std::vector<const CostList*>;

// `costs` with a factor for each of `free`, 1e-9 to 1e9, such that the simulated seconds of `runs`
// come as close to the measured ones as they can: least squares of the logarithm of their ratio,
// which is a relative error. A search that needs no derivative: the best point of a coarse grid,
// then steps that halve. BadInput for fewer runs than factors, more than two factors, a list whose
// entries are all 0 or absent, and seconds that are not above 0.
CostModel FitCosts(const Schedule& schedule, const CostModel& costs,
                   const std::vector<FreeCosts>& free, const std::vector<MeasuredRun>& runs);

}  // namespace torus::parallel
