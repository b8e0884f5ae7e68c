// GPipe (Huang et al. 2019, section 2.2): all forwards, then all backwards, one stage per rank.
//
//   rank 0 | F0 F1 F2 .. .. B0 B1 B2
//   rank 1 | .. F0 F1 F2 B0 B1 B2 ..
//
// The paper runs the backwards from the last micro-batch to the first. Here they ascend, as in
// every schedule of Torus, so that gradients are summed in one order whatever the schedule. Time
// and memory are the same.
#pragma once

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// Returns forwards and backwards only; Lower adds the rest. Throws what CheckSize throws.
Schedule GPipe(const PipelineSize& size);

}  // namespace torus::parallel
