#include "ops/loss/mse_loss.h"

#include "ops/activation/activation.h"
#include "ops/elementwise/elementwise.h"
#include "ops/reduction/reduction.h"

namespace torus::ops {
namespace {

Variable Reduce(const Variable& losses, LossReduction reduction) {
  if (reduction == LossReduction::kNone) return losses;
  return reduction == LossReduction::kMean ? Mean(losses) : Sum(losses);
}

}  // namespace

Variable MseLoss(const Variable& input, const Variable& target, LossReduction reduction) {
  const Variable off = Sub(input, target);
  return Reduce(Mul(off, off), reduction);
}

Variable BinaryCrossEntropyWithLogits(const Variable& input, const Variable& target,
                                      const BinaryCrossEntropyOptions& options) {
  Require(input.shape() == target.shape(), "binary_cross_entropy_with_logits",
          "needs a target of the input's shape {}, got {}", input.shape(), target.shape());
  // log sigmoid(-x) = log sigmoid(x) - x, so the loss is (1 - t) x - (1 + (pos - 1) t) log
  // sigmoid(x).
  const Variable rest = Add(Neg(target), 1.0), positive = LogSigmoid(input);
  const Variable scaled =
      options.pos_weight.defined()
          ? Mul(positive, Add(Mul(target, Sub(Variable(options.pos_weight), 1.0)), 1.0))
          : positive;
  Variable losses = Sub(Mul(rest, input), scaled);
  if (options.weight.defined()) losses = Mul(losses, Variable(options.weight));
  return Reduce(losses, options.reduction);
}

}  // namespace torus::ops
