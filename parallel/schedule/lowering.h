// Lowering: adds sends, receives, reductions and steps to a schedule of forwards and backwards.
#pragma once

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// Adds to `compute`, which holds forwards and backwards alone:
//   - a send right after the action that makes the tensors;
//   - before the action that needs them a receive, and before that one a receive of everything that
//     the same rank sends earlier: so both ends of a link have the same messages in the same order,
//     whatever the order of the stages on either side;
//   - kReduce after the last backward of each stage, and kStep for each stage at the end.
// Between two stages of one rank nothing is sent. BadInput for actions of other kinds, and when a
// stage is run by no rank or by several.
Schedule Lower(const Schedule& compute);

}  // namespace torus::parallel
