// What a run's model learns by, and targets to try that with where there are no data.
#pragma once

#include <vector>

#include "autograd/precision.h"
#include "models/descriptor.h"
#include "parallel/trainer/trainer_options.h"

namespace torus::recipes {

// The model's own. `precision`: of the ops that it runs.
parallel::LossFn TaskLoss(const ModelDescriptor& model, Precision precision = {});

// Targets for inputs of such a shape: class or token 0 in each place that its data would ask for;
// of masked words in every seventh, as 15 % of them are.
std::vector<Tensor> SampleTargets(ModelTask task, const Shape& input);

}  // namespace torus::recipes
