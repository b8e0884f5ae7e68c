#include "recipes/data/task_loss.h"

#include "models/gpt2/gpt2.h"
#include "models/roberta/roberta.h"
#include "ops/loss/cross_entropy.h"

namespace torus::recipes {
namespace {

Variable NextLoss(const std::vector<Variable>& outputs, const std::vector<Tensor>& targets) {
  return NextTokenLoss(outputs, targets[0]);
}

Variable MaskedLoss(const std::vector<Variable>& outputs, const std::vector<Tensor>& targets) {
  return MaskedTokenLoss(outputs, targets[0]);
}

}  // namespace

Variable ClassLoss(const std::vector<Variable>& outputs, const std::vector<Tensor>& targets) {
  return ops::CrossEntropy(outputs[0], Variable(targets[0]));
}

parallel::LossFn TaskLoss(const ModelSpec& model) {
  if (model.masked) return MaskedLoss;
  return model.language_model ? NextLoss : ClassLoss;
}

std::vector<Tensor> SampleTargets(const ModelSpec& model, const Shape& input) {
  if (!model.language_model) return {Zeros({input[0]}, DType::kI64)};
  if (!model.masked) return {Zeros(input, DType::kI64)};
  constexpr int64_t kIgnored = -100, kEvery = 7;
  Tensor targets = Full(input, kIgnored, DType::kI64);
  for (int64_t i = 0; i < targets.numel(); i += kEvery) targets.mutable_data<int64_t>()[i] = 0;
  return {targets};
}

}  // namespace torus::recipes
