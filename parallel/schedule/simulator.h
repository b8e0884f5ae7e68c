// Simulates a schedule: computes when each action runs if it starts as soon as its rank is free and
// its inputs have arrived, and the memory and link traffic that this takes.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "parallel/schedule/cost_model.h"
#include "parallel/schedule/schedule.h"

namespace torus::parallel {

struct TimedAction {
  Action action;
  double begin = 0, end = 0;
};

// A message: an activation or gradient on its way to the rank that uses it.
struct Transfer {
  int from = 0, to = 0;  // ranks
  bool activation = true;
  int micro_batch = 0;
  double begin = 0, arrival = 0;
};

struct Simulation {
  // Of each rank, in the order they run: forwards, backwards, and reduces and steps that take time.
  std::vector<std::vector<TimedAction>> ranks;
  std::vector<Transfer> transfers;
  double makespan = 0;  // when the last of them ends
  // The share of the ranks' time, until the makespan, in which they do not compute. GPipe with K
  // equal stages and M micro-batches: (K - 1) / (M + K - 1).
  double bubble = 0;
  std::vector<double> busy;        // of each rank
  std::vector<double> peak_bytes;  // of each rank: state plus the most activations
  std::map<std::pair<int, int>, double> sent_bytes;  // from, to
};

// Simulates `schedule`, lowered or not. Equal arguments give equal results, jitter included. A send
// starts when its tensors are computed and encoded; sends on one link follow each other while the
// ranks compute. Optimizer steps start when all ranks have finished all reductions: only then is it
// known whether the gradients are finite, and what their norm is. Throws BadInput if `costs` do not
// fit the number of stages (CheckCosts), or if an action waits for one that never comes.
Simulation Simulate(const Schedule& schedule, const CostModel& costs = {});

}  // namespace torus::parallel
