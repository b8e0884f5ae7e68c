#include "ops/loss/class_cross_entropy.h"

#include "autograd/node.h"
#include "ops/loss/class_shape.h"
#include "ops/loss/kernels.h"
#include "ops/loss/reduce_losses.h"

namespace torus::ops {
namespace {

constexpr const char* kOp = "cross_entropy";

// What the backward needs.
struct SavedForBackward {
  Shape input;
  Saved logits;  // classes last, contiguous
  Saved targets, largest, log_sum, divisor;
  int64_t ignore_index;
};

// The gradient of the logits, given the gradients `dloss` of the rows' losses.
Tensor InputGradient(const SavedForBackward& saved, const Tensor& dloss) {
  const Tensor& x = saved.logits.get();
  Tensor dx(x.shape(), x.dtype(), dloss.device());
  kernels::CrossEntropyBackward(x, {saved.targets.get(), saved.ignore_index}, saved.largest.get(),
                                saved.log_sum.get(), dloss, dx);
  return dx.Permute(ClassesSecond(saved.input.rank()));
}

// The number of targets that count, as a scalar; undefined unless the loss is a mean. With no such
// target the mean is 0 / 0.
Tensor Divisor(const ClassTargets& targets, LossReduction reduction, const Tensor& losses) {
  if (reduction != LossReduction::kMean) return {};
  Tensor count({}, losses.dtype(), losses.device());
  kernels::CountTargets(targets, count);
  return count;
}

}  // namespace

Variable ClassCrossEntropy(const Variable& input, const Variable& target, int64_t ignore_index,
                           LossReduction reduction) {
  const ClassTargets targets = CheckedTargets(kOp, input.shape(), target.data(), ignore_index);
  const Tensor x = input.data().Permute(ClassesLast(input.rank())).Contiguous();
  const Device device = CommonDevice(kOp, x, targets.numbers);
  const Shape rows{targets.numbers.numel()};
  Tensor largest(rows, x.dtype(), device), log_sum(rows, x.dtype(), device);
  Tensor losses(target.shape(), x.dtype(), device);
  kernels::CrossEntropy(x, targets, largest, log_sum, losses);
  const Tensor divisor = Divisor(targets, reduction, losses);
  const SavedForBackward saved{input.shape(),  Saved(x),       Saved(targets.numbers),
                               Saved(largest), Saved(log_sum), Saved(divisor),
                               ignore_index};
  if (reduction == LossReduction::kNone)
    return Record("cross_entropy", losses, {input}, [saved](const GradContext& g) {
      return Gradients{InputGradient(saved, g.grad())};
    });
  return Record("cross_entropy", ReduceLosses(kOp, losses, divisor), {input},
                [saved, shape = losses.shape()](const GradContext& g) {
                  return Gradients{InputGradient(
                      saved, GradientOfLosses(kOp, g.grad(), saved.divisor.get(), shape))};
                });
}

}  // namespace torus::ops
