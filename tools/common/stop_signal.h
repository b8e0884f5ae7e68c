// Handles Ctrl-C: the first one requests an orderly end, the second one ends the program at once.
#pragma once

#include <exception>

namespace torus::tools {

// From now on SIGINT and SIGTERM are handled so.
void CatchStopSignals();
// The signal that requested the end; 0 if none has.
int StopSignal();

// Thrown where work ends because a signal has requested it. RunMain gives it the status of the
// signal.
class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped"; }
};
// Throws Stopped if a signal has requested the end.
void ThrowIfStopped();

}  // namespace torus::tools
