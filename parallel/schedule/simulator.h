// When each action of a schedule runs if it starts as soon as its rank is free and its inputs have
// arrived, and what it needs of memory and links.
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

// A result on its way to the rank that uses it.
struct Transfer {
  int from = 0, to = 0;  // ranks
  bool activation = true;
  int micro_batch = 0;
  double begin = 0, arrival = 0;
};

struct Simulation {
  // Forwards, backwards, and reduces and steps that take time, in the order they run.
  std::vector<std::vector<TimedAction>> ranks;
  std::vector<Transfer> transfers;
  double makespan = 0;  // when the last of them ends
  // The share of the ranks' time, until the makespan, in which they do not compute. GPipe with K
  // equal stages and M micro-batches: (K - 1) / (M + K - 1).
  double bubble = 0;
  std::vector<double> busy;        // of each rank
  std::vector<double> peak_bytes;  // of each rank: states, and activations at their most
  std::map<std::pair<int, int>, double> sent_bytes;  // from, to
};

// The schedule may be lowered or not; equal arguments give equal results, jitter included. Its
// sends start when what they send is made and encoded, and follow each other on a link, while the
// ranks go on. Steps start when all ranks have made all their reductions: only then it is known
// whether the gradients are finite, and their norm. BadInput when `costs` are not those of as many
// stages (CheckCosts), and when an action waits for one that never comes.
Simulation Simulate(const Schedule& schedule, const CostModel& costs = {});

}  // namespace torus::parallel
