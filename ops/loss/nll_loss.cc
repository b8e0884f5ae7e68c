#include "ops/loss/nll_loss.h"

#include "autograd/node.h"
#include "ops/elementwise/binary.h"
#include "ops/loss/class_shape.h"
#include "ops/loss/class_targets.h"
#include "ops/loss/nll_loss_kernel.h"
#include "ops/reduction/sum.h"
#include "runtime/kernels.h"

namespace torus::ops {
namespace {

constexpr const char* kOp = "nll_loss";

// What forward and backward share.
struct Problem {
  Shape shape;  // of the input
  int64_t rows, classes;
  Saved target;  // i64, contiguous
  Saved weight;
  int64_t ignore_index;
  double smoothing;

  template <class T>
  cpu::ClassTargets<T> Targets() const {
    return {rows,
            classes,
            target.get().data<int64_t>(),
            weight.defined() ? weight.get().data<T>() : nullptr,
            ignore_index,
            smoothing};
  }
};

Problem Pose(const Variable& input, const Variable& target, const NllLossOptions& options) {
  const Tensor numbers = ClassNumbers(kOp, input.shape(), target.data(), options.ignore_index);
  const int64_t classes = input.dim(ClassDim(kOp, input.shape()));
  const Tensor& w = options.weight;
  Require(!w.defined() || (w.shape() == Shape{classes} && w.dtype() == input.dtype()), kOp,
          "weight must be {} ({}), got {}", Name(input.dtype()), classes, w);
  return {.shape = input.shape(),
          .rows = numbers.numel(),
          .classes = classes,
          .target = Saved(numbers),
          .weight = w.defined() ? Saved(w.Contiguous()) : Saved(),
          .ignore_index = options.ignore_index,
          .smoothing = options.label_smoothing};
}

// d input for the gradients `dloss` of the rows.
Tensor InputGradient(const Problem& p, const Tensor& dloss) {
  const int rank = p.shape.rank();
  Tensor rows({p.rows, p.classes}, dloss.dtype(), dloss.device());
  VisitCompute(kOp, dloss.dtype(), [&]<class T>(ComputeType<T>) {
    cpu::NllBackward(p.Targets<T>(), dloss.data<T>(), rows.mutable_data<T>());
  });
  Shape last;
  for (int64_t d : ClassesLast(rank)) last.push_back(p.shape[static_cast<int>(d)]);
  return rows.View(last).Permute(ClassesSecond(rank));
}

}  // namespace

Variable NllLoss(const Variable& input, const Variable& target, const NllLossOptions& options) {
  const Problem p = Pose(input, target, options);
  const Tensor x = input.data().Permute(ClassesLast(input.rank())).Contiguous();
  Tensor loss(target.shape(), x.dtype(), x.device()), scale(target.shape(), x.dtype(), x.device());
  VisitCompute(kOp, x.dtype(), [&]<class T>(ComputeType<T>) {
    cpu::NllForward(p.Targets<T>(), x.data<T>(), loss.mutable_data<T>(), scale.mutable_data<T>());
  });
  const auto total = [](const Tensor& t) {
    return SumOver(kOp, t.Reshape({t.numel()}), {0}, false);
  };
  if (options.reduction == LossReduction::kNone)
    return Record("nll_loss", loss, {input},
                  [p](const GradContext& g) { return Gradients{InputGradient(p, g.grad())}; });
  const double divisor = options.reduction == LossReduction::kMean ? total(scale).Item() : 1;
  return Record("nll_loss", ApplyBinary(kOp, BinaryOp::kDiv, total(loss), divisor), {input},
                [p, divisor, shape = target.shape()](const GradContext& g) {
                  const Tensor each = ApplyBinary(kOp, BinaryOp::kDiv, g.grad(), divisor);
                  return Gradients{InputGradient(p, each.Expand(shape).Contiguous())};
                });
}

}  // namespace torus::ops
