#include "recipes/evaluate/evaluate_classes.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "autograd/node.h"
#include "ops/indexing/indexing.h"
#include "ops/loss/cross_entropy.h"
#include "runtime/error.h"

namespace torus::recipes {
namespace {

Variable Logits(nn::Sequential& model, const data::Batch& batch) {
  std::vector<Variable> inputs;
  for (const Tensor& input : batch.inputs) inputs.emplace_back(input.To(model.device()));
  return model.ForwardAll(inputs, {.training = false, .samples = batch.samples})[0];
}

// The columns of the classes.
Variable InOrder(const Variable& logits, const std::vector<int64_t>& outputs) {
  if (std::ranges::is_sorted(outputs)) return logits;
  const Tensor index = FromVector<int64_t>(outputs, {static_cast<int64_t>(outputs.size())});
  return ops::IndexSelect(logits, 1, Variable(index.To(logits.data().device())));
}

// The largest of equal outputs is the first one.
Prediction PredictionOf(std::span<const float> row, int64_t example, int64_t target) {
  const auto largest = std::ranges::max_element(row);
  double sum = 0;
  for (const float logit : row) sum += std::exp(static_cast<double>(logit) - *largest);
  return {example, target, largest - row.begin(), 1 / sum};
}

}  // namespace

ClassEvaluation EvaluateClasses(nn::Sequential& model, const data::MakeBatch& batches,
                                const data::Dataset& dataset, int64_t batch,
                                const std::vector<int64_t>& outputs, const std::stop_token& stop) {
  const NoGrad no_grad;
  ClassEvaluation result{
      data::ConfusionMatrix(static_cast<int64_t>(dataset.info().classes.size()))};
  for (int64_t begin = 0; begin < dataset.size(); begin += batch) {
    ThrowIfStopped(stop, begin);
    const data::Batch made = batches(Rows(begin, std::min(dataset.size(), begin + batch)));
    Variable logits = Logits(model, made);
    Require(logits.data().dim(1) == result.counts.classes(), dataset.info().name,
            "has {} classes, but the model puts out {}", result.counts.classes(),
            logits.data().dim(1));
    logits = InOrder(logits, outputs);
    const Variable loss = ops::CrossEntropy(logits, Variable(made.target.To(model.device())),
                                            {.reduction = ops::LossReduction::kSum});
    const double sum = loss.data().Item();
    RequireScore(sum, dataset.info().name, begin, begin + logits.dim(0));
    result.loss += sum;
    const Tensor rows = logits.data().To(Device{}).To(DType::kF32).Contiguous();
    const float* row = rows.data<float>();
    for (int64_t i = 0; i < rows.dim(0); ++i, row += rows.dim(1)) {
      const int64_t target = made.target.data<int64_t>()[i];
      if (target == data::kNoClass) continue;
      const std::span<const float> outputs_of_row(row, static_cast<size_t>(rows.dim(1)));
      result.predictions.push_back(PredictionOf(outputs_of_row, begin + i, target));
      result.counts.Add(target, result.predictions.back().predicted);
    }
  }
  Require(result.counts.total() > 0, dataset.info().name,
          "requires an example that can be read, got none");
  result.loss /= static_cast<double>(result.counts.total());
  return result;
}

void ThrowIfStopped(const std::stop_token& stop, int64_t at) {
  if (stop.stop_requested()) Throw<Interrupted>("evaluate", "was stopped before example {}", at);
}

void RequireScore(double loss, const std::string& where, int64_t begin, int64_t end) {
  Require(std::isfinite(loss), where,
          "examples {} to {} have a loss of {} by these weights, so there is no score", begin,
          end - 1, loss);
}

data::Normalization NormalizationByName(const std::string& name, const data::Dataset& dataset) {
  if (name == "dataset") return dataset.info().normalization;
  if (name == "half") return {.mean = {0.5, 0.5, 0.5}, .std = {0.5, 0.5, 0.5}};
  Require(name == "imagenet", "evaluate", "--normalize must be dataset, imagenet or half, got {}",
          name);
  return {.mean = {0.485f, 0.456f, 0.406f}, .std = {0.229f, 0.224f, 0.225f}};
}

data::MicroBatch Rows(int64_t begin, int64_t end) {
  data::MicroBatch rows;
  for (int64_t i = begin; i < end; ++i) {
    rows.indices.push_back(i);
    rows.samples.push_back(i - begin);
  }
  return rows;
}

}  // namespace torus::recipes
