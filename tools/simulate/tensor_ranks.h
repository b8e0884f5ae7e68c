// Tensor-parallel ranks of a pipeline to simulate: what `--tensor` of `train` would add to it.
#pragma once

#include <string>
#include <vector>

#include "parallel/schedule/comparison.h"
#include "parallel/schedule/tensor_parallel.h"

namespace torus::tools {

struct TensorFlags {
  int ranks = 1;           // that compute each stage together
  std::string model;       // whose blocks they split, as train's --model names it
  std::string link;        // between any two of them, as ParseLink reads it; empty: takes no time
  double activation = 0;   // bytes that a sum is of; 0: those that cross a rank's cut
  bool share_cuts = true;  // TrainerOptions::share_cuts
};

// What each rank of the pipeline has of the model: equal shares of its blocks, one more for each
// of the first ranks where they do not divide evenly; the first rank has the embedding, the last
// one a language model's head. BadInput naming the flag for a model that is not given or has no
// blocks to split, and for heads or a vocabulary that do not fit.
std::vector<parallel::TensorParallelStage> StagesOf(const TensorFlags& flags,
                                                    const parallel::Pipeline& pipeline);

// Changes the costs of `pipeline`, whose ranks compute their stages alone, to those of `flags`
// (parallel::WithTensorParallel). Returns a line about the sums of the rank that has most.
std::string SplitStages(const TensorFlags& flags, parallel::Pipeline& pipeline);

}  // namespace torus::tools
