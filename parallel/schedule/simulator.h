// When each action of a schedule runs if it starts as soon as its rank is free and its inputs have
// arrived, and what it needs of memory and links.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "parallel/link/link_table.h"
#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// All times in one unit of the caller's choice, which with links is seconds. A list has one entry
// for each stage; an empty `forward` or `backward` means 1 for each, any other empty list 0.
struct CostModel {
  std::vector<double> forward;
  std::vector<double> backward;       // both halves
  double backward_input_share = 0.5;  // of `backward`, that kBackwardInput takes
  std::vector<double> reduce;         // of the stage's gradients over replicas
  std::vector<double> step;           // of the optimizer

  // A micro-batch's output of the stage, as it is sent; the gradient that comes back is as large.
  std::vector<double> boundary_bytes;
  // For a boundary, on the rank that sends and on the one that receives: the codec's time.
  std::vector<double> encode, decode;
  LinkTable links;

  std::vector<double> state_bytes;       // weights, gradients, optimizer
  std::vector<double> activation_bytes;  // kept of a micro-batch from its forward to its backward
};

struct TimedAction {
  Action action;
  double begin = 0, end = 0;
};

struct Simulation {
  // Forwards, backwards, and reduces and steps that take time, in the order they run.
  std::vector<std::vector<TimedAction>> ranks;
  double makespan = 0;  // when the last of them ends
  // The share of the ranks' time, until the makespan, in which they do not compute. GPipe with K
  // equal stages and M micro-batches: (K - 1) / (M + K - 1).
  double bubble = 0;
  std::vector<double> busy;        // of each rank
  std::vector<double> peak_bytes;  // of each rank: states, and activations at their most
  std::map<std::pair<int, int>, double> sent_bytes;  // from, to
};

// The schedule may be lowered or not; equal arguments give equal results, jitter included; its sends start when what they send is made and encoded, and
// follow each other on a link, while the ranks go on. BadInput when a list of costs is not as long
// as there are stages or has a number that is negative or not finite, and when an action waits for
// one that never comes.
Simulation Simulate(const Schedule& schedule, const CostModel& costs = {});

}  // namespace torus::parallel
