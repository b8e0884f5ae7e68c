// GradientTree: sums the gradients of a stage's micro-batches in one fixed binary tree, for
// TrainerOptions::reproducible. Trainer's own part.
#pragma once

#include <vector>

#include "autograd/variable.h"
#include "runtime/binary_counter.h"

namespace torus::parallel {

// A replica's micro-batches are neighbours in the list of all, so that its sum is a node of the
// tree over that list, and the sums of all replicas meet in the same tree
// (AllReduceAlgorithm::kPairs).
class GradientTree {
 public:
  // `uses`: as Stage::Parameters lists them.
  explicit GradientTree(std::vector<NamedVariable> uses) : uses_(std::move(uses)) {}

  // Takes the gradients of a micro-batch from its parameters; called in ascending order. Those left
  // out have none.
  void Take(int micro_batch);
  // Gives the parameters the sums; one that got no gradient stays without.
  void Finish();

 private:
  using Gradients = std::vector<Tensor>;  // of each use; undefined: none
  std::vector<NamedVariable> uses_;
  BinaryCounter<Gradients> sums_;
  int taken_ = 0;
};

}  // namespace torus::parallel
