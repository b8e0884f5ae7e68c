// The rules for every schedule, checked before it runs.
#pragma once

#include <vector>

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

struct ScheduleFacts {
  std::vector<int> in_flight;  // each stage: most micro-batches between their forward and the end
                               // of their backward
  std::vector<int> rank_in_flight;  // the same of each rank, over its stages together
};

// Checks a lowered schedule; BadInput says the rule, the rank and the actions that break it, and
// shows the ranks' lists around them.
//   - each stage has one rank, and each rank a stage; each micro-batch of a stage has one forward,
//     then one backward (whole or both halves)
//   - backwards of a stage ascend by micro-batch, so that gradients are summed in one order: whole
//     ones and halves for the inputs among each other, and whole ones and halves for the weights
//   - inputs are received before they are used, or made before by a stage of the same rank; results
//     are sent after they are made
//   - every send has its receive, and the two ranks of a link agree on the order of its messages
//   - each stage reduces once after its last backward and steps once after that; a rank reduces all
//     its stages before it steps any, because the norm for clipping is that of the whole gradient
//   - where the weights of a stage are gathered, its forwards and backwards lie between a gather
// and
//     the free behind it, and none is left at the end
//   - no deadlock: where sends do not wait, and each rank's last reduction waits for all ranks to
//     reach theirs, every rank gets to the end of its list
ScheduleFacts Verify(const Schedule& schedule);

}  // namespace torus::parallel
