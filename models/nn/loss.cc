#include "models/nn/loss.h"

#include "ops/indexing/indexing.h"
#include "ops/loss/class_targets.h"
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
  const ops::CountedTargets counted = ops::FindCounted({targets.To(DType::kI64).Contiguous()});
  const Variable rows = ops::IndexSelect(RowsOf(outputs[0], targets), 0, Variable(counted.places));
  return TokenLoss(rows, outputs, Variable(counted.numbers));
}

}  // namespace torus::nn
