// RunRanks: one thread for each rank, and the end of all of them when one fails.
#pragma once

#include <functional>

#include "parallel/transport/in_process.h"

namespace torus::parallel {

struct RunRanksOptions {
  // Seconds that ranks have to stop once one has failed. They stop at the next op's end, so it must
  // cover the longest op.
  double grace = 30;
};

// Calls fn(transport of r) on a thread for each rank r of `world`, with its progress counter
// attached and its trace lane named "rank r", and returns when all have.
//
// The first exception aborts the world, so that the others stop too, and is thrown again here when
// they have. BrokenEnvironment where a thread cannot be started; those that were have ended then. A
// world in which no running rank makes progress for twice its timeout is aborted as
// well: that catches a rank that hangs where nobody waits for it. A thread that does not stop
// within the grace cannot be stopped at all: then the program ends by _Exit(1), after one line on
// stderr that says which rank and why.
void RunRanks(InProcessWorld& world, const std::function<void(Transport&)>& fn,
              RunRanksOptions options = {});

// The same in a world of its own.
void RunRanks(int ranks, const std::function<void(Transport&)>& fn);

}  // namespace torus::parallel
