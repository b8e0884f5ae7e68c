// The time that a schedule takes if each forward and backward starts as soon as its rank is free
// and its inputs have arrived.
#pragma once

#include <vector>

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// All times in one unit of the caller's choice. A list has one time for each stage; an empty list
// means 1 for each.
struct CostModel {
  std::vector<double> forward;
  std::vector<double> backward;       // both halves
  double backward_input_share = 0.5;  // of `backward`, that kBackwardInput takes
  double transfer = 0;                // of a result to another rank
};

struct TimedAction {
  Action action;
  double begin = 0, end = 0;
};

struct Simulation {
  std::vector<std::vector<TimedAction>> ranks;  // compute actions in the order they run
  double makespan = 0;                          // when the last of them ends
  // The share of the ranks' time, until the makespan, in which they do not compute. GPipe with K
  // equal stages and M micro-batches: (K - 1) / (M + K - 1).
  double bubble = 0;
};

// Looks at forwards and backwards alone, so the schedule may be lowered or not. BadInput when a
// list of costs is not as long as there are stages, and when an action waits for one that never
// comes.
Simulation Simulate(const Schedule& schedule, const CostModel& costs = {});

}  // namespace torus::parallel
