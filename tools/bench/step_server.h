// Runs steps on demand, to be timed in turn with another framework.
#pragma once

#include <istream>
#include <ostream>
#include <string>

#include "tools/bench/train_step.h"

namespace torus::bench {

// Loads `exchange` (train_step.h) and prints a line of JSON {"size", "batch", "flops",
// "gemm_gflops"}; the last is the machine's measured peak in the step's precision (gemm_peak.h).
// Then, for each number N read from `in` until it ends, runs N steps and prints {"losses": [...],
// "seconds": [...], "cpu_seconds": [...], "peak_rss": B}. CPU seconds are those of all threads; B
// is the process's peak resident memory in bytes.
void ServeSteps(const TrainStepOptions& options, const std::string& exchange, std::istream& in,
                std::ostream& out);

}  // namespace torus::bench
