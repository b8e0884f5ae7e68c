// What model and train cases share: building the model, its state, one step, and comparing its
// state.
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

// The model that a case names, of its configuration, without dropout. Unsupported for one that the
// registry has not, and for a setting that is unknown here.
std::shared_ptr<nn::Sequential> BuildModel(const Case& c);

// What goes into one step.
struct CaseBatch {
  std::vector<Tensor> inputs;  // images (N, H, W, C); or token ids, attention mask, token types
  Tensor labels;
};

// The tensors "in.X" of a case; of a train case those of one step.
CaseBatch BatchOf(const Case& c, std::optional<int64_t> step = {});

// Loads tensors under the reference's names. Cases hold no num_batches_tracked; it becomes 0.
void LoadState(nn::Module& model, const std::map<std::string, Tensor>& state,
               const std::string& where);

struct StepResult {
  Variable logits, loss;
};

// Forward and backward in training mode, then EndMiniBatch. Gradients are left in the parameters.
StepResult RunStep(nn::Sequential& model, const CaseBatch& batch);
// The same of images (N, C, H, W).
StepResult RunStep(nn::Sequential& model, const Tensor& images, const Tensor& labels);

// Compares running statistics with the tensors of `wanted` that have their names. Means are
// compared on the scale of their channels' deviations: a batch norm behind a layer of mean zero has
// a mean that is all rounding.
void CheckRunningStatistics(const nn::Module& model, const std::map<std::string, Tensor>& wanted,
                            const std::string& prefix, const ModelTolerance& tolerance,
                            Comparison& result);

}  // namespace torus::replay
