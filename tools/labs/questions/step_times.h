// Where a step's time went, as the trace of a run has it.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/trace.h"

namespace torus::labs {

// Seconds of a step; medians over the steps.
struct StepTimes {
  // Forward, backward and the optimizer's step; mean over the ranks.
  double compute = 0;
  // The all-reduce, the agreement on the step, and what these wait for; mean over the ranks.
  double communicate = 0;
  // The all-reduce on the rank that spends the least on it: the last that comes to it, and waits
  // for nobody to come.
  double reduce = 0;
  int64_t steps = 0;  // that were counted
};

// Of the steps of which all `ranks` have a backward in `events`; what one has no event of, as a
// single rank of the all-reduce, counts 0. BadInput where there is no such step.
StepTimes StepTimesOf(const std::vector<trace::Event>& events, int64_t ranks);

}  // namespace torus::labs
