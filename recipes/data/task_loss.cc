#include "recipes/data/task_loss.h"

#include <algorithm>

#include "data/datasets/dataset.h"
#include "models/nn/loss.h"
#include "ops/elementwise/elementwise.h"

namespace torus::recipes {
namespace {

// The model's loss is the mean over the rows that have a class.
Variable LossOfImages(const ModelDescriptor& model, const std::vector<Variable>& outputs,
                      const Tensor& target) {
  const int64_t rows = target.numel(), left_out = CountLeftOut({target});
  if (left_out == 0) return model.loss(outputs, target);
  if (left_out == rows) return Variable(Zeros({}, DType::kF32, target.device()));
  return ops::Mul(model.loss(outputs, target),
                  static_cast<double>(rows - left_out) / static_cast<double>(rows));
}

Variable SmoothLoss(ModelTask task, const std::vector<Variable>& outputs, const Tensor& target,
                    double smoothing) {
  return IsLanguageModel(task) ? nn::SmoothTokenLoss(outputs, target, smoothing)
                               : nn::SmoothClassLoss(outputs, target, smoothing);
}

}  // namespace

int64_t CountLeftOut(const std::vector<Tensor>& targets) {
  return std::ranges::count(ToVector<int64_t>(targets[0].To(Device{})), data::kNoClass);
}

parallel::LossFn TaskLoss(const ModelDescriptor& model, Precision precision,
                          double label_smoothing) {
  return [model, precision, label_smoothing](const std::vector<Variable>& outputs,
                                             const std::vector<Tensor>& targets,
                                             const StepContext& context) {
    const WithPrecision with(precision);
    if (label_smoothing > 0 && context.training)
      return SmoothLoss(model.task, outputs, targets[0], label_smoothing);
    const TensorRanks& ranks = context.tensor_ranks;
    if (ranks.size > 1 && model.split_loss) return model.split_loss(outputs, targets[0], ranks);
    return model.task == ModelTask::kImages && !context.training
               ? LossOfImages(model, outputs, targets[0])
               : model.loss(outputs, targets[0]);
  };
}

std::vector<Tensor> SampleTargets(ModelTask task, const Shape& input) {
  if (!IsLanguageModel(task)) return {Zeros({input[0]}, DType::kI64)};
  if (task == ModelTask::kNextToken) return {Zeros(input, DType::kI64)};
  constexpr int64_t kIgnored = -100, kEvery = 7;
  Tensor targets = Full(input, kIgnored, DType::kI64);
  for (int64_t i = 0; i < targets.numel(); i += kEvery) targets.mutable_data<int64_t>()[i] = 0;
  return {targets};
}

}  // namespace torus::recipes
