#include "ops/loss/cross_entropy.h"

#include <algorithm>

#include "ops/elementwise/elementwise.h"
#include "ops/loss/class_cross_entropy.h"
#include "ops/loss/class_shape.h"
#include "ops/precision/in_precision.h"
#include "ops/reduction/reduction.h"
#include "ops/softmax/softmax.h"

namespace torus::ops {
namespace {

constexpr const char* kOp = "cross_entropy";

// (C) as (C, 1, ...): broadcasts along the class dimension.
Tensor AlongClasses(const Tensor& weight, const Shape& input) {
  const int64_t classes = input[ClassDim(kOp, input)];
  Require(weight.shape() == Shape{classes}, kOp, "weight must be ({}), got {}", classes, weight);
  Shape shape = Dims::Filled(std::max(1, input.rank() - 1), 1);
  shape[0] = classes;
  return weight.Reshape(shape);
}

// -sum target log_p weight, composed: the target may require a gradient.
Variable OfProbabilities(const Variable& log_p, const Variable& target,
                         const CrossEntropyOptions& options) {
  Require(
      target.shape() == log_p.shape(), kOp,
      "a target of {} means probabilities, of shape {} as the input, got {}; class numbers must "
      "be integers",
      Name(target.dtype()), log_p.shape(), target.shape());
  const int classes = ClassDim(kOp, log_p.shape());
  const double s = options.label_smoothing, count = static_cast<double>(log_p.dim(classes));
  const Variable smooth = s == 0 ? target : Add(Mul(target, 1 - s), s / count);
  Variable product = Mul(log_p, smooth);
  if (options.weight.defined())
    product = Mul(product, Variable(AlongClasses(options.weight, log_p.shape())));
  if (options.reduction == LossReduction::kNone) return Neg(Sum(product, {classes}));
  const Variable sum = Neg(Sum(product));
  if (options.reduction == LossReduction::kSum) return sum;
  return Div(sum, static_cast<double>(log_p.numel()) / count);
}

}  // namespace

Variable CrossEntropy(const Variable& input, const Variable& target,
                      const CrossEntropyOptions& options) {
  return InPrecision(
      "cross_entropy",
      [&](const Variable& input, const Variable& target) {
        Require(options.label_smoothing >= 0 && options.label_smoothing <= 1, kOp,
                "label_smoothing must be in [0, 1], got {}", options.label_smoothing);
        if (!IsFloating(target.dtype()) && !options.weight.defined() &&
            options.label_smoothing == 0)
          return ClassCrossEntropy(input, target, options.ignore_index, options.reduction);
        const Variable log_p = LogSoftmax(input, ClassDim(kOp, input.shape()));
        return IsFloating(target.dtype()) ? OfProbabilities(log_p, target, options)
                                          : NllLoss(log_p, target, options);
      },
      input, target);
}

}  // namespace torus::ops
