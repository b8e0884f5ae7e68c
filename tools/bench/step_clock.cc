#include "tools/bench/step_clock.h"

#include <time.h>

#include "runtime/parallel_for.h"

namespace torus::bench {

double StepClock() {
  timespec now = {};
  ::clock_gettime(TeamSize() == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace torus::bench
