#include "ops/loss/nll_loss.h"

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "ops/loss/class_shape.h"
#include "ops/loss/kernels.h"
#include "ops/loss/reduce_losses.h"
#include "ops/precision/in_precision.h"

namespace torus::ops {
namespace {

constexpr const char* kOp = "nll_loss";

NllTargets CheckedNllTargets(const Variable& input, const Variable& target,
                             const NllLossOptions& options) {
  const ClassTargets numbers =
      CheckedTargets(kOp, input.shape(), target.data(), options.ignore_index);
  const int64_t classes = input.dim(ClassDim(kOp, input.shape()));
  const Tensor& w = options.weight;
  Require(!w.defined() || (w.shape() == Shape{classes} && w.dtype() == input.dtype()), kOp,
          "weight must be {} ({}), got {}", Name(input.dtype()), classes, w);
  return {numbers, w.defined() ? w.Contiguous() : w, options.label_smoothing};
}

// What the backward needs.
struct SavedForBackward {
  Shape input;
  Saved numbers, weight, divisor;
  int64_t ignore_index;
  double smoothing;

  NllTargets Targets() const { return {{numbers.get(), ignore_index}, weight.get(), smoothing}; }
};

// The gradient of the input, given the gradients `dloss` of the rows' losses.
Tensor InputGradient(const SavedForBackward& saved, const Tensor& dloss) {
  Shape last;
  for (int64_t d : ClassesLast(saved.input.rank()))
    last.push_back(saved.input[static_cast<int>(d)]);
  Tensor dx(last, dloss.dtype(), dloss.device());
  kernels::NllLossBackward(saved.Targets(), dloss, dx);
  return dx.Permute(ClassesSecond(saved.input.rank()));
}

}  // namespace

Variable NllLoss(const Variable& input, const Variable& target, const NllLossOptions& options) {
  RequireDefined(kOp, input, target);
  return InPrecision(
      "nll_loss",
      [&](const Variable& input) {
        const NllTargets targets = CheckedNllTargets(input, target, options);
        const Tensor& numbers = targets.classes.numbers;
        const Tensor x = input.data().Permute(ClassesLast(input.rank())).Contiguous();
        const Device device = CommonDevice(kOp, x, numbers, targets.weight);
        Tensor losses(target.shape(), x.dtype(), device), scale(target.shape(), x.dtype(), device);
        kernels::NllLoss(x, targets, losses, scale);
        const bool mean = options.reduction == LossReduction::kMean;
        const Tensor divisor = mean ? ReduceLosses(kOp, scale, {}) : Tensor();
        const SavedForBackward saved{input.shape(),  Saved(numbers),       Saved(targets.weight),
                                     Saved(divisor), options.ignore_index, options.label_smoothing};
        if (options.reduction == LossReduction::kNone)
          return Record("nll_loss", losses, {input}, [saved](const GradContext& g) {
            return Gradients{InputGradient(saved, g.grad())};
          });
        return Record("nll_loss", ReduceLosses(kOp, losses, divisor), {input},
                      [saved, shape = losses.shape()](const GradContext& g) {
                        return Gradients{InputGradient(
                            saved, GradientOfLosses(kOp, g.grad(), saved.divisor.get(), shape))};
                      });
      },
      input);
}

}  // namespace torus::ops
