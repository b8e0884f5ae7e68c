// Lowering: from a schedule that only computes to one that a rank can run.
#pragma once

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// Adds to a compute-only schedule: a receive right before the action that needs it, a send right
// after the one that made it (none between two stages of one rank), kReduce after the last backward
// of each stage, and kStep for each stage at the end. BadInput when `compute` holds other than
// compute actions or a stage has no single owner.
Schedule Lower(const Schedule& compute);

}  // namespace torus::parallel
