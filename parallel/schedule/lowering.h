// Lowering: adds sends, receives, reductions and steps to a schedule of forwards and backwards.
#pragma once

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// Adds to `compute`, which holds forwards and backwards only:
//   - a send right after the action that computes the tensors;
//   - a receive before the action that needs the tensors, and before that receive one for
//     everything that the same rank sends earlier; so both ends of a link have the same messages in
//     the same order, whatever the order of the stages on either side;
//   - kReduce after the last backward of each stage, and kStep for each stage at the end.
// Nothing is sent between two stages of one rank. Throws BadInput if `compute` has actions of other
// kinds, or if a stage is run by no rank or by several.
Schedule Lower(const Schedule& compute);

}  // namespace torus::parallel
