// Replicas of a simulated pipeline: what `--replicas` and `--strategy` of `train` would add to it.
#pragma once

#include <string>

#include "parallel/schedule/replica_rounds.h"

namespace torus::tools {

struct ReplicaFlags {
  int replicas = 1;
  std::string strategy = "ddp";  // as in train: ddp, local-sgd:H, diloco:H or gossip:GRAPH
  double weights = 0;            // bytes of each rank
  std::string link;              // of a replica to the others, as ParseLink reads it; empty: free
};

// Throws BadInput, naming the flag, for another strategy or what is no link.
parallel::ReplicaRounds RoundsOf(const ReplicaFlags& flags, int ranks);

// A line about a synchronization.
std::string LineOf(const ReplicaFlags& flags, const parallel::ReplicaRounds& rounds);

}  // namespace torus::tools
