// What a run's processes know each of themselves, brought together in the leading one. All of them
// call each of these together.
#pragma once

#include <cstdint>
#include <vector>

#include "recipes/run/run_processes.h"
#include "runtime/allocator.h"
#include "runtime/trace.h"

namespace torus::recipes {

// In the leading process the events of all, by begin time; elsewhere `own`. The clocks of several
// hosts are taken as they are.
std::vector<trace::Event> GatherEvents(const RunProcesses& processes,
                                       std::vector<trace::Event> own);

struct ProcessMemory {
  MemoryStats all;                   // sums, of peaks that need not have been at once
  std::vector<uint64_t> rank_peaks;  // of each rank where it has a process of its own; else empty
};

// In the leading process; elsewhere nothing.
ProcessMemory GatherMemory(const RunProcesses& processes);

}  // namespace torus::recipes
