// GPipe (Huang et al. 2019, section 2.2): all forwards, then all backwards, one stage a rank.
//
//   rank 0 | F0 F1 F2 .. .. B0 B1 B2
//   rank 1 | .. F0 F1 F2 B0 B1 B2 ..
//
// The paper runs the backwards from the last micro-batch down; here they ascend, as every schedule
// of ours does, so that gradients are summed in one order whatever the schedule. Time and memory
// are the same.
#pragma once

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// Forwards and backwards alone; Lower adds the rest. The errors of
// CheckSize.
Schedule GPipe(const PipelineSize& size);

}  // namespace torus::parallel
