// Shared by model and train cases: building the model, loading its state, one step, and comparing
// its state.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/nn/sequential.h"
#include "tools/replay/case.h"
#include "tools/replay/compare.h"
#include "tools/replay/model_tolerance.h"

namespace torus::replay {

// The model that a case names, with the case's configuration and without dropout. Throws
// Unsupported if the registry does not have it or a setting is unknown.
std::shared_ptr<nn::Sequential> BuildModel(const Case& c);

// The data of one step.
struct CaseBatch {
  std::vector<Tensor> inputs;  // images (N, H, W, C); or token ids, attention mask, token types
  Tensor labels;
};

// The tensors "in.X" of a case; for a train case, those of step `step`.
CaseBatch BatchOf(const Case& c, std::optional<int64_t> step = {});

// Loads tensors by the reference's names. Cases have no num_batches_tracked; it becomes 0.
void LoadState(nn::Module& model, const std::map<std::string, Tensor>& state,
               const std::string& where);

struct StepResult {
  Variable logits, loss;
};

// Runs forward and backward in training mode, then EndMiniBatch. The gradients stay in the
// parameters.
StepResult RunStep(nn::Sequential& model, const CaseBatch& batch);
// The same for images (N, C, H, W).
StepResult RunStep(nn::Sequential& model, const Tensor& images, const Tensor& labels);

// Compares running statistics with the tensors of the same names in `wanted`. Means are compared on
// the scale of their channels' deviations, because after a layer whose mean is zero the mean
// consists of rounding errors.
void CheckRunningStatistics(const nn::Module& model, const std::map<std::string, Tensor>& wanted,
                            const std::string& prefix, const ModelTolerance& tolerance,
                            Comparison& result);

}  // namespace torus::replay
