// What a run's processes know each of themselves, brought together in the leading one. All of them
// call each of these together.
#pragma once

#include <vector>

#include "recipes/run/run_processes.h"
#include "runtime/allocator.h"
#include "runtime/trace.h"

namespace torus::recipes {

// In the leading process the events of all, by begin time; elsewhere `own`. The clocks of several
// hosts are taken as they are.
std::vector<trace::Event> GatherEvents(const RunProcesses& processes,
                                       std::vector<trace::Event> own);

// In the leading process sums over all, whose peaks need not have been at once; elsewhere nothing.
MemoryStats GatherMemory(const RunProcesses& processes);

}  // namespace torus::recipes
