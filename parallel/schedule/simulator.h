// The ideal time of a schedule: each action starts as soon as its rank is free and what it needs is
// there.
#pragma once

#include <vector>

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// Times in any one unit. A list holds one figure a stage; an empty one means 1 each.
struct CostModel {
  std::vector<double> forward;
  std::vector<double> backward;       // both halves
  double backward_input_share = 0.5;  // of `backward`, that kBackwardInput takes
  double transfer = 0;                // from the end of an action to its result on another rank
};

struct TimedAction {
  Action action;
  double begin = 0, end = 0;
};

struct Simulation {
  std::vector<std::vector<TimedAction>> ranks;  // compute actions in the order they run
  double makespan = 0;                          // end of the last one
  // Share of ranks x makespan that no rank computes in; for GPipe with equal stages (K - 1) / (M +
  // K - 1).
  double bubble = 0;
};

// Reads the compute actions alone, so it takes a schedule before and after lowering. BadInput when
// costs do not have a figure a stage, or when the schedule cannot end.
Simulation Simulate(const Schedule& schedule, const CostModel& costs = {});

}  // namespace torus::parallel
