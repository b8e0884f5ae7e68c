// The common frame of every program's main function.
#pragma once

#include <functional>

namespace torus::tools {

// Returns body()'s status. If it throws, or standard output cannot be written, prints one line,
// "NAME: reason", on stderr, after all that was printed before, and returns 2 for BadInput, which
// the user can correct, or 1 for any other exception. After
// Stopped (stop_signal.h) it returns 128 and the signal.
int RunMain(const char* name, const std::function<int()>& body);

}  // namespace torus::tools
