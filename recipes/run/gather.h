// Gathers in the leading process what each process of a run has measured. All processes call each
// of these functions together.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/cuda/plans.h"
#include "recipes/run/run_processes.h"
#include "runtime/allocator.h"
#include "runtime/trace.h"

namespace torus::recipes {

// Returns the events of all processes, sorted by begin time, in the leading process, and `own` in
// the others. Clocks of different hosts are not aligned.
std::vector<trace::Event> GatherEvents(const RunProcesses& processes,
                                       std::vector<trace::Event> own);

struct ProcessMemory {
  MemoryStats all;                   // sums; the peaks need not have been at the same time
  std::vector<uint64_t> rank_peaks;  // bytes per rank if each has its own process; else empty
};

// `own`: of this process. Only the leading process gets the result.
ProcessMemory GatherMemory(const RunProcesses& processes, const MemoryStats& own);

// Sums; `own`: of this process. Only the leading process gets the result.
cuda::PlanCounts GatherPlans(const RunProcesses& processes, const cuda::PlanCounts& own);

}  // namespace torus::recipes
