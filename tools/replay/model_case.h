// What model and train cases share: building the model, its state, one step, and comparing its state.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "models/nn/sequential.h"
#include "tools/replay/case.h"
#include "tools/replay/compare.h"
#include "tools/replay/model_tolerance.h"

namespace torus::replay {

// The model that the case names, dropout off; Unsupported for another model or an option that we have not.
std::shared_ptr<nn::Sequential> BuildModel(const Case& c);

// Loads tensors under the reference's names. Cases hold no num_batches_tracked; it becomes 0.
void LoadState(nn::Module& model, const std::map<std::string, Tensor>& state,
               const std::string& where);

// (N, H, W, C) of a case's images.
Shape ImageShape(const Tensor& images);

struct StepResult {
  Variable logits, loss;
};

// Forward and backward in training mode, then EndMiniBatch. Images (N, C, H, W). Gradients are left in the parameters.
StepResult RunStep(nn::Sequential& model, const Tensor& images, const Tensor& labels);

// Compares running statistics with the tensors of `wanted` that have their names. Means are compared on the scale of
// their channels' deviation: a batch norm behind a layer of mean zero has a mean that is all rounding.
void CheckRunningStatistics(const nn::Module& model, const std::map<std::string, Tensor>& wanted,
                            const std::string& prefix, const ModelTolerance& tolerance,
                            Comparison& result);

}  // namespace torus::replay
