// Predicts pipelines whose replicas exchange gradients or weights, in each step or once in a round
// of several.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel/link/link_model.h"
#include "parallel/schedule/comparison.h"

namespace torus::parallel {

// What the replicas of each rank do in a synchronization.
struct ReplicaRounds {
  int replicas = 2;
  int64_t steps = 1;          // of a round, which ends in one synchronization
  int neighbours = 0;         // to which a replica sends its weights (gossip); 0: an all-reduce
  bool of_weights = false;    // after the optimizer's step; false: of gradients, before it
  std::vector<double> bytes;  // of each rank's weights
  LinkModel link;             // of each replica to all others
};

// Seconds of a synchronization of `bytes`, and the bytes that a replica sends in it. An all-reduce
// is a direct one (tensor_parallel.h); to its neighbours a replica sends one message after another.
double ExchangeSeconds(const ReplicaRounds& rounds, double bytes);
double ExchangeBytes(const ReplicaRounds& rounds, double bytes);

// As CompareSchedules(pipeline), for the mean step of a round: all but its last are those of one
// pipeline alone, and the last one has the synchronization too, which overlaps nothing. What a
// pipeline sends to other replicas counts as sent. Throws BadInput unless there are two replicas, a
// step and the bytes of each rank.
std::vector<ScheduleFigures> CompareSchedules(const Pipeline& pipeline,
                                              const ReplicaRounds& rounds);

}  // namespace torus::parallel
