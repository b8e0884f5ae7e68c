#include "recipes/data/task_loss.h"

namespace torus::recipes {

parallel::LossFn TaskLoss(const ModelDescriptor& model, Precision precision) {
  return [loss = model.loss, split = model.split_loss, precision](
             const std::vector<Variable>& outputs, const std::vector<Tensor>& targets,
             const StepContext& context) {
    const WithPrecision with(precision);
    const TensorRanks& ranks = context.tensor_ranks;
    return ranks.size > 1 && split ? split(outputs, targets[0], ranks) : loss(outputs, targets[0]);
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
