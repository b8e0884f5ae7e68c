#include "ops/loss/probability_losses.h"

#include <cmath>
#include <numbers>

#include "autograd/node.h"
#include "ops/elementwise/comparison.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/extrema.h"
#include "ops/elementwise/math.h"
#include "ops/elementwise/select.h"
#include "ops/loss/reduce_variables.h"
#include "ops/precision/in_precision.h"
#include "ops/view/view.h"

namespace torus::ops {
namespace {

// x log(x), and 0 at 0.
Variable Entropies(const Variable& x) { return MaskedFill(Mul(x, Log(x)), Eq(x, 0), 0); }

// log(1 - x)
Variable LogOfRest(const Variable& x) { return Log1p(Neg(x)); }

// The smallest logarithm that counts.
constexpr double kLeastLog = -100;

Variable BinaryEntropies(const Variable& x, const Variable& t) {
  const auto limited = [](const Variable& log) { return Clamp(log, kLeastLog, std::nullopt); };
  return Neg(Add(Mul(t, limited(Log(x))), Mul(Add(Neg(t), 1.0), limited(LogOfRest(x)))));
}

// With the gradient `dy` of each loss.
Gradients BinaryEntropyGradients(const Variable& x, const Variable& t, const GradContext& g) {
  const NoGrad constant;
  const Variable dy(g.grad());
  Gradients out(2);
  if (g.wants(0)) {
    const Variable slope = Clamp(Mul(x, Add(Neg(x), 1.0)), 1e-12, std::nullopt);
    out[0] = Div(Mul(dy, Sub(x, t)), slope).data();
  }
  if (g.wants(1)) out[1] = Mul(dy, Sub(LogOfRest(x), Log(x))).data();
  return out;
}

Variable EntropiesOf(const Variable& input, const Variable& target) {
  return InPrecision(
      "binary_cross_entropy",
      [](const Variable& x, const Variable& t) {
        const auto losses = [&] {
          const NoGrad constant;
          return BinaryEntropies(x, t).data();
        };
        return Record("binary_cross_entropy", losses(), {x, t},
                      [x = Saved(x), t = Saved(t)](const GradContext& g) {
                        return BinaryEntropyGradients(Variable(x.get()), Variable(t.get()), g);
                      });
      },
      input, target);
}

// Like the input, where the last dimension of `var` is missing or 1.
Variable VarianceOfEach(const Variable& input, const Variable& var) {
  const Variable last = var.rank() + 1 == input.rank() ? Unsqueeze(var, -1) : var;
  bool fits = last.rank() == input.rank();
  for (int d = 0; fits && d < input.rank(); ++d)
    fits = last.dim(d) == input.dim(d) || (d + 1 == input.rank() && last.dim(d) == 1);
  Require(fits, "gaussian_nll_loss", "needs a variance like the input {}, or one a row, got {}",
          input.shape(), var.shape());
  return Expand(last, input.shape());
}

}  // namespace

KlReduction ParseKlReduction(std::string_view name) {
  if (name == "batchmean") return KlReduction::kBatchMean;
  const LossReduction reduction = ParseLossReduction("kl_div", name);
  return reduction == LossReduction::kNone   ? KlReduction::kNone
         : reduction == LossReduction::kMean ? KlReduction::kMean
                                             : KlReduction::kSum;
}

Variable KlDiv(const Variable& input, const Variable& target, KlReduction reduction,
               bool log_target) {
  RequireOneShape("kl_div", "input", input, "target", target);
  const Variable losses = log_target ? Mul(Exp(target), Sub(target, input))
                                     : Sub(Entropies(target), Mul(target, input));
  if (reduction == KlReduction::kNone) return losses;
  if (reduction == KlReduction::kMean) return Mean(losses);
  if (reduction == KlReduction::kSum || input.rank() == 0) return Sum(losses);
  return Div(Sum(losses), static_cast<double>(input.dim(0)));
}

Variable BinaryCrossEntropy(const Variable& input, const Variable& target, const Tensor& weight,
                            LossReduction reduction) {
  RequireOneShape("binary_cross_entropy", "input", input, "target", target);
  const Variable losses = EntropiesOf(input, target);
  if (!weight.defined()) return Reduce(losses, reduction);
  const Variable weights = Expand(Variable(weight), input.shape());
  return Reduce(Mul(losses, weights), reduction);
}

Variable GaussianNllLoss(const Variable& input, const Variable& target, const Variable& var,
                         const GaussianNllOptions& options) {
  constexpr const char* kOp = "gaussian_nll_loss";
  RequireOneShape(kOp, "input", input, "target", target);
  RequireDefined(kOp, var);
  Require(options.eps > 0, kOp, "eps must be positive, got {}", options.eps);
  const Variable variance = AtLeast(VarianceOfEach(input, var), options.eps);
  const Variable off = Sub(input, target);
  Variable losses = Mul(Add(Log(variance), Div(Mul(off, off), variance)), 0.5);
  if (options.full) losses = Add(losses, 0.5 * std::log(2 * std::numbers::pi));
  return Reduce(losses, options.reduction);
}

}  // namespace torus::ops
