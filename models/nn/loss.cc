#include "models/nn/loss.h"

#include "ops/indexing/indexing.h"
#include "ops/loss/cross_entropy.h"
#include "ops/loss/linear_cross_entropy.h"
#include "ops/view/view.h"

namespace torus::nn {
namespace {

// Of one activation or row of logits a place.
Variable TokenLoss(const Variable& rows, const std::vector<Variable>& outputs,
                   const Variable& targets) {
  if (outputs.size() == 1) return ops::CrossEntropy(rows, targets);
  const Variable bias = outputs.size() > 2 ? outputs[2] : Variable();
  return ops::LinearCrossEntropy(rows, outputs[1], bias, targets);
}

Variable RowsOf(const Variable& output, const Tensor& targets) {
  return ops::Reshape(output, {targets.numel(), output.dim(-1)});
}

}  // namespace

Variable ClassLoss(const std::vector<Variable>& outputs, const Tensor& targets) {
  return ops::CrossEntropy(outputs[0], Variable(targets));
}

Variable NextTokenLoss(const std::vector<Variable>& outputs, const Tensor& targets) {
  return TokenLoss(RowsOf(outputs[0], targets), outputs, Variable(targets.Reshape({-1})));
}

Variable MaskedTokenLoss(const std::vector<Variable>& outputs, const Tensor& targets) {
  constexpr int64_t kIgnored = -100;
  const std::vector<int64_t> all = ToVector<int64_t>(targets.To(DType::kI64));
  std::vector<int64_t> places, words;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] == kIgnored) continue;
    places.push_back(static_cast<int64_t>(i));
    words.push_back(all[i]);
  }
  const auto count = static_cast<int64_t>(places.size());
  const Variable rows =
      ops::IndexSelect(RowsOf(outputs[0], targets), 0, Variable(FromVector(places, {count})));
  return TokenLoss(rows, outputs, Variable(FromVector(words, {count})));
}

}  // namespace torus::nn
