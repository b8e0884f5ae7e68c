#include "recipes/evaluate/evaluate_text.h"

#include <algorithm>

#include "autograd/node.h"
#include "data/loading/stacked_batch.h"
#include "data/text/windows.h"
#include "models/nn/loss.h"
#include "recipes/evaluate/evaluate_classes.h"
#include "runtime/error.h"

namespace torus::recipes {
namespace {

using TokenLoss = Variable (*)(const std::vector<Variable>& outputs, const Tensor& targets);

int64_t TargetsIn(const Tensor& targets) {
  const std::vector<int64_t> all = ToVector<int64_t>(targets);
  return targets.numel() - std::ranges::count(all, data::TokenMasker::kNoTarget);
}

TextEvaluation Evaluate(nn::Sequential& model, int64_t rows, const data::MakeBatch& batches,
                        int64_t batch, TokenLoss loss, const std::stop_token& stop) {
  const NoGrad no_grad;
  TextEvaluation result;
  for (int64_t begin = 0; begin < rows; begin += batch) {
    ThrowIfStopped(stop, begin);
    const int64_t end = std::min(rows, begin + batch);
    const data::Batch made = batches(Rows(begin, end));
    const int64_t count = TargetsIn(made.target);
    if (count == 0) continue;  // a text of special tokens has none that are masked
    const std::vector<Variable> outputs =
        model.ForwardAll({Variable(made.inputs[0].To(model.device()))},
                         {.training = false, .samples = made.samples});
    const double mean = loss(outputs, made.target.To(model.device())).data().Item();
    RequireScore(mean, "text", begin, end);
    result.loss += static_cast<double>(count) * mean;
    result.tokens += count;
  }
  Require(result.tokens > 0, "text", "has no token that is to be predicted, in {} rows", rows);
  result.loss /= static_cast<double>(result.tokens);
  return result;
}

}  // namespace

TextEvaluation EvaluateText(nn::Sequential& model, const data::Tokens& tokens, int64_t length,
                            int64_t batch, const std::stop_token& stop) {
  const data::DisjointWindows windows(tokens, length);
  return Evaluate(model, windows.size(), data::StackedBatches(windows), batch, nn::NextTokenLoss,
                  stop);
}

TextEvaluation EvaluateMaskedText(nn::Sequential& model, const data::Tokens& tokens, int64_t length,
                                  int64_t batch, const data::TokenMasker& masker,
                                  const std::stop_token& stop) {
  constexpr int64_t kAround = data::TokenMasker::kAround;
  Require(length > kAround, "evaluate",
          "--length must be at least {} for a model of masked words, got {}", kAround + 1, length);
  const data::DisjointWindows windows(tokens, length - kAround);
  return Evaluate(model, windows.size(),
                  data::MaskedBatches(data::StackedBatches(windows), masker, {}), batch,
                  nn::MaskedTokenLoss, stop);
}

}  // namespace torus::recipes
