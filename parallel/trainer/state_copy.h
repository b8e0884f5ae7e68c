// Copies tensors from a rank's stages to a TrainState and back. Internal to the trainer.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "parallel/data_parallel/replica_strategy.h"
#include "parallel/optim/optimizer.h"
#include "parallel/pipeline/stage.h"
#include "parallel/trainer/rank_model.h"
#include "parallel/trainer/train_state.h"
#include "parallel/trainer/weight_average.h"
#include "runtime/tensor.h"

namespace torus::parallel {

struct StageState {
  const Stage* stage = nullptr;
  ReplicaStrategy* replicas = nullptr;
  Optimizer* optimizer = nullptr;    // of what the replica holds, like the average
  WeightAverage* average = nullptr;  // null if there is none
  std::vector<std::string> order;    // of the optimizer's state, by parameter
};

// One stage's part of a TrainState.
struct StageTensors {
  std::vector<NamedTensor> parameters, buffers, optimizer, averages;
  std::vector<NamedTensor> codecs, replicas;  // also of replicas other than 0
};

// What a rank other than the first of replica 0 adds to a TrainState.
StageTensors PartOfOther(StageTensors stage);

// Whether this stage saves a parameter; a tied one is saved by the stage of its first use.
using Owns = std::function<bool(const std::string& parameter)>;

// All replicas of the stage call it together. Returns the stage's whole state on replica 0; the
// result on others is not to be used. The tensors are in CPU memory, which they may share with the
// stage.
StageTensors TensorsOf(const StageState& state, const Owns& owns, const std::string& what);
// A copy of the stage's tensors in memory of their own.
StageTensors Copied(StageTensors stage);
// Joins the tensors of stages, by number, into one state, without copying.
TrainState Join(int64_t step, const std::map<int, StageTensors>& stages);

// Copies the weights of a rank's stages from those of a whole model; reads no others. Throws
// BadInput, before anything changes, unless the names are exactly those of `model`, each with its
// shape and dtype.
void CopyWeights(const TensorSource& weights, const std::vector<WeightSpec>& model,
                 const std::vector<StageState>& stages);
// The same for optimizers; a parameter without state in `state` is as before its first step. Throws
// BadInput for state of a parameter that `model` does not have, and what Optimizer::LoadState
// throws.
void CopyOptimizer(const TensorSource& state, const std::vector<WeightSpec>& model,
                   const std::vector<StageState>& stages);

// The same for averages; if there are none in `averages`, they begin anew. Does nothing if the run
// keeps no averages.
void CopyAverages(const TensorSource& averages, const std::vector<StageState>& stages);

}  // namespace torus::parallel
