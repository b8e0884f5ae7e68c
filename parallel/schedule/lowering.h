// Lowering: adds sends, receives, reductions and steps to a schedule of forwards and backwards.
#pragma once

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// Adds to `compute`, which holds forwards and backwards alone: a receive right before the action
// that needs its tensors, a send right after the action that makes them (neither between two stages
// of one rank), kReduce after the last backward of each stage, and kStep for each stage at the end.
// BadInput for actions of other kinds, and when a stage is run by no rank or by several.
Schedule Lower(const Schedule& compute);

}  // namespace torus::parallel
