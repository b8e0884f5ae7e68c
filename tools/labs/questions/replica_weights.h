// ReplicaWeights: the weights of each replica of a run, to compare them or to make them differ.
#pragma once

#include <string>
#include <vector>

#include "parallel/pipeline/block.h"

namespace torus::labs {

// For runs with one stage, whose ranks are the replicas, and f32 weights.
class ReplicaWeights {
 public:
  // Adds the parameters of the next rank; for LabParts::on_blocks. They are shared with the
  // trainer.
  void Add(const std::vector<parallel::Block>& blocks);

  // Overwrites the weights of rank `rank` with those of `blocks`. Throws BadInput if these are of
  // another model.
  void Set(size_t rank, const std::vector<parallel::Block>& blocks);

  // The distance of each rank's weights from those of rank 0: the norm of the difference over all
  // parameters, in f64. To be called between steps.
  std::vector<double> Distances() const;
  // The norm of rank 0's weights.
  double Norm() const;

 private:
  std::vector<std::vector<NamedVariable>> of_ranks_;
};

}  // namespace torus::labs
