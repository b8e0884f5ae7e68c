// Where a step's time goes, from the trace of a run.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/trace.h"

namespace torus::labs {

// Seconds per step, as medians over the steps.
struct StepTimes {
  // Forward, backward and the optimizer's step; mean over the ranks.
  double compute = 0;
  // The all-reduce, the agreement of the ranks on the step, and the waits in both; mean over the
  // ranks.
  double communicate = 0;
  // The all-reduce on the rank that spends the least time in it: the last to start it, which waits
  // for no other rank to start.
  double reduce = 0;
  int64_t steps = 0;  // that were counted
};

// Uses the steps in which all `ranks` have a backward in `events`. Parts without events, such as
// the all-reduce of a single rank, count as 0. Throws BadInput if there is no such step.
StepTimes StepTimesOf(const std::vector<trace::Event>& events, int64_t ranks);

}  // namespace torus::labs
