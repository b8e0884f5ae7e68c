// A clock for measuring the machine's rates.
#pragma once

namespace torus::bench {

// Seconds since an arbitrary moment: wall time, or, if the team has one thread, the process's CPU
// time, so that other work on the machine does not count.
double StepClock();

}  // namespace torus::bench
