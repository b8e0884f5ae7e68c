#include "ops/loss/mse_loss.h"

#include "ops/activation/activation.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/extrema.h"
#include "ops/elementwise/math.h"
#include "ops/loss/reduce_variables.h"
#include "ops/reduction/reduction.h"

namespace torus::ops {
namespace {

Variable Difference(const char* op, const Variable& input, const Variable& target) {
  RequireOneShape(op, "input", input, "target", target);
  return Sub(input, target);
}

// `losses` as they are without a weight, which must be like `input`.
Variable Weighted(const char* op, const Variable& losses, const Variable& input,
                  const Variable& weight) {
  if (!weight.defined()) return losses;
  Require(weight.shape() == input.shape(), op, "needs a weight of the input's shape {}, got {}",
          input.shape(), weight.shape());
  return Mul(losses, weight);
}

// The mean divides by the sum of the weights.
Variable ReduceByWeight(const char* op, const Variable& losses, const Variable& input,
                        const Variable& weight, LossReduction reduction) {
  const Variable weighted = Weighted(op, losses, input, weight);
  if (!weight.defined() || reduction != LossReduction::kMean) return Reduce(weighted, reduction);
  return Div(Sum(weighted), Sum(weight));
}

// `off` limited to -bound to bound, a constant.
Variable Within(const Variable& off, double bound) {
  return Variable(Clamp(off, -bound, bound).data());
}

}  // namespace

Variable MseLoss(const Variable& input, const Variable& target, LossReduction reduction,
                 const Variable& weight) {
  const Variable off = Difference("mse_loss", input, target);
  return ReduceByWeight("mse_loss", Mul(off, off), input, weight, reduction);
}

Variable L1Loss(const Variable& input, const Variable& target, LossReduction reduction,
                const Variable& weight) {
  return ReduceByWeight("l1_loss", Abs(Difference("l1_loss", input, target)), input, weight,
                        reduction);
}

// With c = input - target, limited to -delta to delta, both of its pieces are
// c (input - target - c / 2). Their derivative is c, as if c were a constant, so no gradient flows
// through it: it would be infinite where the difference is.
Variable HuberLoss(const Variable& input, const Variable& target, LossReduction reduction,
                   double delta, const Variable& weight) {
  Require(delta > 0, "huber_loss", "delta must be positive, got {}", delta);
  const Variable off = Difference("huber_loss", input, target), c = Within(off, delta);
  return Reduce(Weighted("huber_loss", Mul(c, Sub(off, c, 0.5)), input, weight), reduction);
}

Variable SmoothL1Loss(const Variable& input, const Variable& target, LossReduction reduction,
                      double beta) {
  Require(beta >= 0, "smooth_l1_loss", "beta must be at least 0, got {}", beta);
  const Variable off = Difference("smooth_l1_loss", input, target);
  if (beta == 0) return Reduce(Abs(off), reduction);
  const Variable c = Within(off, beta);
  return Reduce(Mul(Div(c, beta), Sub(off, c, 0.5)), reduction);
}

Variable BinaryCrossEntropyWithLogits(const Variable& input, const Variable& target,
                                      const BinaryCrossEntropyOptions& options) {
  RequireOneShape("binary_cross_entropy_with_logits", "input", input, "target", target);
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
