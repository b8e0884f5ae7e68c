// The first thing that the processes of a run do together.
#pragma once

#include "parallel/transport/world.h"
#include "recipes/run/run.h"
#include "runtime/usable_cores.h"

namespace torus::recipes {

struct AgreedOptions {
  RunOptions options;       // those that were given, with a number of threads
  int64_t process_threads;  // of all threads of the host, those of this process's ranks
};

// Throws BadInput that names the ranks, the option and both values unless all processes were given
// the same (OptionFacts). If no number of threads was given, it becomes that of the smallest host's
// cores, so that hosts of different size train together. `world`: null if the ranks are threads of
// this process. `cores`: those that this process may use.
AgreedOptions AgreeOnOptions(parallel::World* world, RunOptions options, bool evaluates,
                             const UsableCores& cores = CoresOfProcess());

}  // namespace torus::recipes
