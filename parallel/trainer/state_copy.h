// Copies tensors from stages to a TrainState and back. Trainer's own part.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "parallel/optim/optimizer.h"
#include "parallel/pipeline/stage.h"
#include "parallel/trainer/weight_average.h"
#include "runtime/tensor.h"

namespace torus::parallel {

struct StageState {
  const Stage* stage = nullptr;
  Optimizer* optimizer = nullptr;
  WeightAverage* average = nullptr;  // null without
};

// Whether a parameter is saved from this stage: a tied one is saved from the stage of its first
// use.
using Owns = std::function<bool(const std::string& parameter)>;

// Append copies to `out`.
void AppendParameters(const StageState& state, const Owns& owns, std::vector<NamedTensor>& out);
void AppendBuffers(const StageState& state, std::vector<NamedTensor>& out);
void AppendOptimizer(const StageState& state, const Owns& owns, std::vector<NamedTensor>& out);
void AppendAverages(const StageState& state, const Owns& owns, std::vector<NamedTensor>& out);

// Copies into the stages of all replicas. BadInput, before anything changes, unless the names are
// exactly those of the model, each with its shape and dtype.
void CopyWeights(const std::vector<NamedTensor>& weights, const std::vector<StageState>& stages);
// The same for optimizers; a parameter without state in `tensors` is as before its first step.
// BadInput for the state of an unknown parameter, and as Optimizer::LoadState.
void CopyOptimizer(const std::vector<NamedTensor>& tensors, const std::vector<StageState>& stages);

// The same for averages; with an empty list they begin anew. Ignored where a run has no averages.
void CopyAverages(const std::vector<NamedTensor>& averages, const std::vector<StageState>& stages);

}  // namespace torus::parallel
