// The rules for every schedule, checked before it runs.
#pragma once

#include <vector>

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

struct ScheduleFacts {
  std::vector<int> in_flight;  // each stage: most micro-batches between their forward and the end
                               // of their backward
};

// Checks a lowered schedule; BadInput says the rule, the rank and the actions that break it.
//   - each stage has one rank, and each rank a stage; each micro-batch of a stage has one forward,
//     then one backward (whole or both halves)
//   - backwards of a stage ascend by micro-batch, so that gradients are summed in one order: whole
//     ones and halves for the inputs among each other, and whole ones and halves for the weights
//   - inputs are received before they are used, or made before by a stage of the same rank; results
//     are sent after they are made
//   - every send has its receive, and both ends of a link (a rank to another) agree on the order
//   - each stage reduces once after its last backward and steps once after that; a rank reduces all
//     its stages before it steps any, because the norm for clipping is that of the whole gradient
//   - it ends: run with sends that do not wait, and with all ranks waiting for each other at the
//     last reduction of each, nobody waits for ever
ScheduleFacts Verify(const Schedule& schedule);

}  // namespace torus::parallel
