// A clock for rates of the machine.
#pragma once

namespace torus::bench {

// Seconds since some moment: of the wall, or for a team of one of the process's CPU time, so that
// other work on the machine does not count.
double StepClock();

}  // namespace torus::bench
