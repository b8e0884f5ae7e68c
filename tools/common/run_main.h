// The common frame of every program's main function.
#pragma once

#include <functional>

namespace torus::tools {

// Returns body()'s status. If it throws, or standard output cannot be written, prints one line,
// "NAME: reason", on stderr, after all that was printed before (below it the lines that an error
// brings along, lines_below.h), and returns 2 for BadInput, which the user can correct, or 1 for
// any other exception. If a rank's thread cannot be stopped (parallel::StuckRank), the program
// writes a line that begins with "torus:" to stderr and ends at once with status 1. After Stopped
// (stop_signal.h) it returns 128 and the signal. The body finds
// CUDA_DEVICE_MAX_CONNECTIONS as NCCL's streams need it (real_nccl.h) unless the user has set it;
// CUDA reads it at the first use of a GPU.
int RunMain(const char* name, const std::function<int()>& body);

}  // namespace torus::tools
