// Tensor-parallel ranks in a simulated pipeline: what `--tensor` of `train` would add to it.
#pragma once

#include <string>
#include <vector>

#include "parallel/schedule/comparison.h"
#include "parallel/schedule/tensor_parallel.h"

namespace torus::tools {

struct TensorFlags {
  int ranks = 1;           // that compute each stage together
  std::string model;       // whose blocks they split, as in train's --model
  std::string link;        // between any two of them, as ParseLink reads it; empty: takes no time
  double activation = 0;   // bytes of each all-reduce; 0: those that cross a rank's cut
  bool share_cuts = true;  // TrainerOptions::share_cuts
};

// What each rank of the pipeline has of the model: equal shares of its blocks; if they do not
// divide evenly, each of the first ranks has one more. The first rank has the embedding, the last
// one a language model's head. Throws BadInput, naming the flag, if no model is given, it has no
// blocks to split, or `ranks` does not divide its heads or vocabulary.
std::vector<parallel::TensorParallelStage> StagesOf(const TensorFlags& flags,
                                                    const parallel::Pipeline& pipeline);

// Changes the costs of `pipeline`, in which each rank computes its stages alone, to those with
// `flags` (parallel::WithTensorParallel). Returns a line about the all-reduces of the rank that has
// the most.
std::string SplitStages(const TensorFlags& flags, parallel::Pipeline& pipeline);

}  // namespace torus::tools
