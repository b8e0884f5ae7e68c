// Copies tensors from a rank's stages to a TrainState and back. Trainer's own part.
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
  Optimizer* optimizer = nullptr;    // of what the replica holds, as the average
  WeightAverage* average = nullptr;  // null without
  std::vector<std::string> order;    // of the optimizer's state, by parameter
};

// What a TrainState has of one stage.
struct StageTensors {
  std::vector<NamedTensor> parameters, buffers, optimizer, averages;
  std::vector<NamedTensor> codecs;  // also of replicas other than 0
};

// Whether a parameter is saved from this stage: a tied one is saved from the stage of its first
// use.
using Owns = std::function<bool(const std::string& parameter)>;

// Called by all replicas of the stage together: on replica 0 its whole state; elsewhere tensors of
// no meaning. They lie in a CPU's memory, and may share the stage's.
StageTensors TensorsOf(const StageState& state, const Owns& owns, const std::string& what);
// The same values in memory of their own.
StageTensors Copied(StageTensors stage);
// A state of these stages, by number, without copies.
TrainState Join(int64_t step, const std::map<int, StageTensors>& stages);

// Copies a whole model's weights into a rank's stages, of which it reads no others. BadInput,
// before anything changes, unless the names are exactly those of `model`, each with its shape and
// dtype.
void CopyWeights(const TensorSource& weights, const std::vector<WeightSpec>& model,
                 const std::vector<StageState>& stages);
// The same for optimizers; a parameter without state there is as before its first step. BadInput
// for the state of a parameter that `model` has not, and as Optimizer::LoadState.
void CopyOptimizer(const TensorSource& state, const std::vector<WeightSpec>& model,
                   const std::vector<StageState>& stages);

// The same for averages; where there are none they begin anew. Ignored where a run has no averages.
void CopyAverages(const TensorSource& averages, const std::vector<StageState>& stages);

}  // namespace torus::parallel
