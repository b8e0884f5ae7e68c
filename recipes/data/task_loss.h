// What a run's model learns by, and targets to try that with where there are no data.
#pragma once

#include <vector>

#include "parallel/trainer/trainer_options.h"
#include "recipes/model/model_spec.h"

namespace torus::recipes {

// Of a classifier: mean cross entropy of logits (N, classes) and classes (N).
Variable ClassLoss(const std::vector<Variable>& outputs, const std::vector<Tensor>& targets);

// That of the model's kind: ClassLoss, or the loss of the next tokens or of the masked ones, which
// computes the head too.
parallel::LossFn TaskLoss(const ModelSpec& model);

// Targets for inputs of such a shape: class or token 0 in each place that its data would ask for;
// of masked words in every seventh, as 15 % of them are.
std::vector<Tensor> SampleTargets(const ModelSpec& model, const Shape& input);

}  // namespace torus::recipes
