#include "ops/loss/linear_cross_entropy.h"

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "ops/elementwise/binary.h"
#include "ops/loss/kernels.h"
#include "ops/precision/in_precision.h"
#include "ops/precision/native.h"

namespace torus::ops {
namespace {

constexpr const char* kOp = "linear_cross_entropy";

// Bias, loss and gradients are in the type of sums; where the bias itself is in the low type, its
// values are widened.
LinearClassProblem CheckedProblem(const Tensor& hidden, const Tensor& weight, const Variable& bias,
                                  const Variable& target, const LinearCrossEntropyOptions& o) {
  Require(weight.rank() == 2 && hidden.rank() >= 1 && hidden.dim(-1) == weight.dim(1) &&
              hidden.dtype() == weight.dtype(),
          kOp, "needs hidden (..., D) and weight (V, D), got {} and {}", hidden, weight);
  const DType sum = SumTypeOf(hidden.dtype());
  Require(!bias.defined() || (bias.shape() == Shape{weight.dim(0)} &&
                              (bias.dtype() == sum || bias.dtype() == hidden.dtype())),
          kOp, "needs bias {} ({}), got {}", Name(sum), weight.dim(0), bias);
  Require(o.reduction != LossReduction::kNone, kOp, "the loss must be reduced: mean or sum");
  Shape leading = hidden.shape();
  int64_t rows = 1;
  for (int d = 0; d + 1 < hidden.rank(); ++d) rows *= hidden.dim(d);
  leading = Shape(std::span(leading.begin(), static_cast<size_t>(hidden.rank() - 1)));
  Require(target.shape() == leading, kOp, "hidden {} needs class numbers of shape {}, got {}",
          hidden.shape(), leading, target.data());
  return {hidden.Reshape({rows, weight.dim(1)}), weight.Contiguous(),
          bias.defined() ? bias.data().To(sum).Contiguous() : Tensor(),
          CheckedTargets(kOp, {rows, weight.dim(0)}, target.data().Reshape({rows}), o.ignore_index),
          o.reduction == LossReduction::kMean};
}

// `gradient`, kept for a loss gradient of 1, scaled by the actual loss gradient, in the dtype of
// the input.
Tensor Scaled(const Saved& gradient, const GradContext& g, DType dtype) {
  return (g.is_one() ? gradient.get() : ApplyBinary(kOp, BinaryOp::kMul, gradient.get(), g.grad()))
      .To(dtype);
}

// `p` has the values of hidden, weight and bias; all three may get gradients.
Variable LossOf(const LinearClassProblem& p, const Variable& hidden, const Variable& weight,
                const Variable& bias) {
  const Device device = CommonDevice(kOp, p.hidden, p.weight, p.bias, p.targets.numbers);
  const DType compute = SumTypeOf(p.hidden.dtype());
  const bool needed = NeedsGrad({hidden, weight, bias});
  const auto gradient_of = [&](const Variable& v) {
    if (!needed || !v.defined() || !v.requires_grad()) return Tensor();
    // Without rows, no chunk writes it.
    return p.hidden.dim(0) == 0 ? Zeros(v.shape(), compute, device)
                                : Empty(v.shape(), compute, device);
  };
  LinearClassGradients gradients{gradient_of(hidden), gradient_of(weight), gradient_of(bias)};
  Tensor loss({}, compute, device);
  kernels::LinearCrossEntropy(p, loss, gradients);
  return Record(
      "linear_cross_entropy", loss, {hidden, weight, bias},
      [dhidden = Saved(gradients.hidden), dweight = Saved(gradients.weight),
       dbias = Saved(gradients.bias), of_hidden = hidden.dtype(), of_weight = weight.dtype(),
       of_bias = bias.defined() ? bias.dtype() : compute](const GradContext& g) {
        return Gradients{g.wants(0) ? Scaled(dhidden, g, of_hidden) : Tensor(),
                         g.wants(1) ? Scaled(dweight, g, of_weight) : Tensor(),
                         g.wants(2) ? Scaled(dbias, g, of_bias) : Tensor()};
      });
}

}  // namespace

Variable LinearCrossEntropy(const Variable& hidden, const Variable& weight, const Variable& bias,
                            const Variable& target, const LinearCrossEntropyOptions& options) {
  RequireDefined(kOp, hidden, weight, target);
  if (ComputesNatively("linear_cross_entropy", hidden, weight, bias))
    return LossOf(CheckedProblem(LowValues(hidden), LowValues(weight), bias, target, options),
                  hidden, weight, bias);
  return InPrecision(
      "linear_cross_entropy",
      [&](const Variable& hidden, const Variable& weight, const Variable& bias) {
        return LossOf(CheckedProblem(hidden.data(), weight.data(), bias, target, options), hidden,
                      weight, bias);
      },
      hidden, weight, bias);
}

}  // namespace torus::ops
