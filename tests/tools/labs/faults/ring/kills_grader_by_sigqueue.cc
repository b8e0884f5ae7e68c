// Fault: ends the grader by a signal with a value.
#include <signal.h>
#include <unistd.h>

#include <stdexcept>

#include "lab_ring.h"

namespace lab {

void AllReduceMean(Wire&, std::span<float>) {
  if (sigqueue(getppid(), SIGKILL, {}) != 0) throw std::runtime_error("no signal to the grader");
}

}  // namespace lab
