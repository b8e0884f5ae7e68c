// The loss of a run's model, and sample targets to compute it without data.
#pragma once

#include <vector>

#include "autograd/precision.h"
#include "models/descriptor.h"
#include "parallel/trainer/trainer_options.h"

namespace torus::recipes {

// The loss of `model`. `precision` is that of the loss's ops. In an evaluation, images without a
// class (data::kNoClass) add 0 to the mean (TrainingParts::left_out). In training, the share
// `label_smoothing` of each target is spread over all classes or tokens (models/nn/loss.h), for
// models whose loss is the cross entropy of their outputs, on one tensor-parallel rank.
parallel::LossFn TaskLoss(const ModelDescriptor& model, Precision precision = {},
                          double label_smoothing = 0);

// Counts the rows without a class.
int64_t CountLeftOut(const std::vector<Tensor>& targets);

// Targets for inputs of shape `input`: class or token 0 wherever real data have a target. For
// masked words every seventh token has one, since 15 % are masked.
std::vector<Tensor> SampleTargets(ModelTask task, const Shape& input);

}  // namespace torus::recipes
