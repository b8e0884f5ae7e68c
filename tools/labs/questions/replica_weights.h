// ReplicaWeights: the weights of each replica of a run, to compare them and to set them apart.
#pragma once

#include <string>
#include <vector>

#include "parallel/pipeline/block.h"

namespace torus::labs {

// Of runs with one stage, whose ranks are replicas, and f32 weights.
class ReplicaWeights {
 public:
  // Notes the parameters of the next rank: for LabParts::on_blocks. They are the trainer's own.
  void Add(const std::vector<parallel::Block>& blocks);

  // Gives rank `rank` the values of a model of its own; BadInput for another one.
  void Set(size_t rank, const std::vector<parallel::Block>& blocks);

  // The distance of each rank's weights from those of rank 0: the norm of the difference of all
  // parameters, in f64. To be called between steps.
  std::vector<double> Distances() const;
  // The norm of rank 0's weights.
  double Norm() const;

 private:
  std::vector<std::vector<NamedVariable>> of_ranks_;
};

}  // namespace torus::labs
