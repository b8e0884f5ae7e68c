// Between live stages and the tensors of a TrainState. Trainer's own part.
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

// Whether a stage's parameter is to be taken from it: the later uses of a tied one are not.
using Owns = std::function<bool(const std::string& parameter)>;

// Append copies.
void AppendParameters(const StageState& state, const Owns& owns, std::vector<NamedTensor>& out);
void AppendBuffers(const StageState& state, std::vector<NamedTensor>& out);
void AppendOptimizer(const StageState& state, const Owns& owns, std::vector<NamedTensor>& out);
void AppendAverages(const StageState& state, const Owns& owns, std::vector<NamedTensor>& out);

// Copies into the stages of all replicas. BadInput unless the names are exactly those of the model,
// each with its shape and dtype; then nothing is changed.
void CopyWeights(const std::vector<NamedTensor>& weights, const std::vector<StageState>& stages);
// The same for optimizers; state that is absent becomes "not yet". BadInput for a name that no
// stage owns, and as Optimizer::LoadState.
void CopyOptimizer(const std::vector<NamedTensor>& tensors, const std::vector<StageState>& stages);

// The same for averages; none at all become "not yet". Ignored where a run has no averages.
void CopyAverages(const std::vector<NamedTensor>& averages, const std::vector<StageState>& stages);

}  // namespace torus::parallel
