// What every schedule must keep, checked before it runs.
#pragma once

#include <vector>

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

struct ScheduleFacts {
  std::vector<int> in_flight;  // each stage: most micro-batches between their forward and the end
                               // of their backward
};

// Checks a lowered schedule; BadInput says the rule, the rank and the actions that break it.
//   - each stage has one rank, and each of its micro-batches one forward, then one backward (whole
//   or both halves)
//   - backwards of a stage ascend by micro-batch: sums of gradients have one order
//   - inputs are received before they are used, results sent after they are made
//   - every send has its receive, and both ends of a link (a rank to another) agree on the order
//   - each stage reduces once after its last backward and steps once after that
//   - it ends: run with sends that do not wait, no set of ranks waits for each other
ScheduleFacts Verify(const Schedule& schedule);

}  // namespace torus::parallel
