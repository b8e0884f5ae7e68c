// Between live stages and the tensors of a TrainState. Trainer's own part.
#pragma once

#include <vector>

#include "parallel/optim/optimizer.h"
#include "parallel/pipeline/stage.h"
#include "runtime/tensor.h"

namespace torus::parallel {

struct StageState {
  const Stage* stage = nullptr;
  Optimizer* optimizer = nullptr;
};

// Append copies.
void AppendParameters(const StageState& state, std::vector<NamedTensor>& out);
void AppendBuffers(const StageState& state, std::vector<NamedTensor>& out);
void AppendOptimizer(const StageState& state, std::vector<NamedTensor>& out);

// Copies into the stages of all replicas. BadInput unless the names are exactly those of the model,
// each with its shape and dtype; then nothing is changed.
void CopyWeights(const std::vector<NamedTensor>& weights, const std::vector<StageState>& stages);
// The same for optimizers; state that is absent becomes "not yet". BadInput for a name that no stage
// owns, and as Optimizer::LoadState.
void CopyOptimizer(const std::vector<NamedTensor>& tensors, const std::vector<StageState>& stages);

}  // namespace torus::parallel
