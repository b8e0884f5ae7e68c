// Steps on demand, for a side-by-side run against another framework.
#pragma once

#include <istream>
#include <ostream>
#include <string>

#include "tools/bench/train_step.h"

namespace torus::bench {

// Loads `exchange` (train_step.h) and prints a line of JSON {"size", "batch", "flops",
// "gemm_gflops"}, the last being the machine's measured peak in the step's precision
// (gemm_peak.h). Then each number N
// read from `in` runs N steps and prints {"losses": [...], "seconds": [...], "cpu_seconds": [...],
// "peak_rss": B}, until `in` ends; CPU seconds are of all threads, B is the most bytes that the
// process has had in memory.
void ServeSteps(const TrainStepOptions& options, const std::string& exchange, std::istream& in,
                std::ostream& out);

}  // namespace torus::bench
