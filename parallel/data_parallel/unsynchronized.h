// Unsynchronized: replicas that exchange nothing, for teaching. Each steps with the mean gradient
// of its own samples, and they drift apart.
#pragma once

#include "parallel/data_parallel/replica_strategy.h"

namespace torus::parallel {

class Unsynchronized : public ReplicaStrategy {
 public:
  using ReplicaStrategy::ReplicaStrategy;
  // Divides the gradients by `share`, which makes them means over the replica's samples.
  void ReduceGradients(const std::string& what, double share) override;
};

// Squared norms, over a replica's parameters, of its distance from replica 0 and of replica 0's
// weights.
struct SquaredDrift {
  double distance = 0, weights = 0;
};
// Called by all replicas together.
SquaredDrift DriftOf(Communicator& replicas, const std::vector<NamedVariable>& parameters,
                     const std::string& what);

}  // namespace torus::parallel
