// Checks the rules for every schedule before it runs.
#pragma once

#include <vector>

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

struct ScheduleFacts {
  std::vector<int> in_flight;  // each stage: most micro-batches between their forward and the end
                               // of their backward
  std::vector<int> rank_in_flight;  // the same for each rank, over all its stages
};

// Checks a lowered schedule. Throws BadInput that names the broken rule, the rank and the actions,
// and shows the ranks' lists around them.
//   - each stage has one rank, and each rank has at least one stage; each micro-batch of a stage
//     has one forward, then one backward (whole or both halves)
//   - backwards of a stage ascend by micro-batch, so that gradients are summed in one order; this
//     holds separately for the input gradients (whole backwards and input halves) and for the
//     weight gradients (whole backwards and weight halves)
//   - inputs are received, or computed by a stage of the same rank, before they are used; results
//     are sent after they are computed
//   - every send has its receive, and the two ranks of a link agree on the order of its messages
//   - each stage reduces once after its last backward and steps once after that; a rank reduces all
//     its stages before it steps any of them, because clipping needs the norm of the whole gradient
//   - if the weights of a stage are gathered, each of its forwards and backwards lies between a
//     gather and the following free, and nothing is left gathered at the end
//   - no deadlock: if sends do not block, and each rank's last reduction waits until all ranks have
//     reached theirs, every rank reaches the end of its list
ScheduleFacts Verify(const Schedule& schedule);

}  // namespace torus::parallel
