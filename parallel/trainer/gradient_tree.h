// GradientTree: sums the gradients of a stage's micro-batches in one fixed binary tree, for
// TrainerOptions::reproducible. Internal to the trainer.
#pragma once

#include <vector>

#include "autograd/variable.h"
#include "runtime/binary_counter.h"

namespace torus::parallel {

// A replica's micro-batches are consecutive in the list of all micro-batches. So its sum is a node
// of the tree over that list, and AllReduceAlgorithm::kDirect sums the replicas' nodes in the same
// tree.
class GradientTree {
 public:
  // `uses`: as Stage::Parameters lists them.
  explicit GradientTree(std::vector<NamedVariable> uses) : uses_(std::move(uses)) {}

  // Takes the gradients of a micro-batch from the parameters. Call in ascending order; skipped
  // micro-batches count as without gradients.
  void Take(int micro_batch);
  // Sets the parameters' gradients to the sums; a parameter without any gradient stays without.
  void Finish();

 private:
  using Gradients = std::vector<Tensor>;  // one per use; undefined: none
  std::vector<NamedVariable> uses_;
  BinaryCounter<Gradients> sums_;
  int taken_ = 0;
};

}  // namespace torus::parallel
