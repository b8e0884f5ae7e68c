#include "ops/loss/class_cross_entropy.h"

#include "autograd/node.h"
#include "ops/cpu/softmax_rows.h"
#include "ops/elementwise/binary.h"
#include "ops/loss/class_shape.h"
#include "ops/loss/class_targets.h"
#include "ops/reduction/sum.h"

namespace torus::ops {
namespace {

constexpr const char* kOp = "cross_entropy";

// What forward and backward share; `logits` has its classes last.
struct Problem {
  Saved logits, target, largest, log_sum;
  int64_t rows, classes, ignore_index;

  bool Counts(int64_t row) const { return Target(row) != ignore_index; }
  int64_t Target(int64_t row) const { return target.get().data<int64_t>()[row]; }
};

Problem Pose(const Variable& input, const Variable& target, int64_t ignore_index) {
  const Tensor numbers = ClassNumbers(kOp, input.shape(), target.data(), ignore_index);
  const Tensor x = input.data().Permute(ClassesLast(input.rank())).Contiguous();
  const int64_t classes = input.dim(ClassDim(kOp, input.shape())), rows = numbers.numel();
  Tensor largest({rows}, x.dtype(), x.device()), log_sum({rows}, x.dtype(), x.device());
  VisitCompute(kOp, x.dtype(), [&]<class T>(ComputeType<T>) {
    cpu::LogSumExp(rows, classes, x.data<T>(), largest.mutable_data<T>(),
                   log_sum.mutable_data<T>());
  });
  return {Saved(x), Saved(numbers), Saved(largest), Saved(log_sum), rows, classes, ignore_index};
}

// -log of the softmax at the target; 0 where it is ignored.
Tensor Losses(const Problem& p, const Shape& shape) {
  const Tensor& x = p.logits.get();
  Tensor loss(shape, x.dtype(), x.device());
  VisitCompute(kOp, x.dtype(), [&]<class T>(ComputeType<T>) {
    T* out = loss.mutable_data<T>();
    const T *logit = x.data<T>(), *largest = p.largest.get().data<T>();
    const T* log_sum = p.log_sum.get().data<T>();
    for (int64_t r = 0; r < p.rows; ++r)
      out[r] = p.Counts(r) ? log_sum[r] - (logit[r * p.classes + p.Target(r)] - largest[r]) : T(0);
  });
  return loss;
}

int64_t CountOf(const Problem& p) {
  int64_t count = 0;
  for (int64_t r = 0; r < p.rows; ++r) count += p.Counts(r) ? 1 : 0;
  return count;
}

// dloss (softmax - one of the target), for the gradients of the rows' losses.
Tensor InputGradient(const Problem& p, const Tensor& dloss, const Shape& shape) {
  const Tensor& x = p.logits.get();
  Tensor scale({p.rows}, x.dtype(), x.device()), dx(x.shape(), x.dtype(), x.device());
  VisitCompute(kOp, x.dtype(), [&]<class T>(ComputeType<T>) {
    T *factor = scale.mutable_data<T>(), *out = dx.mutable_data<T>();
    for (int64_t r = 0; r < p.rows; ++r) factor[r] = p.Counts(r) ? dloss.data<T>()[r] : T(0);
    cpu::ScaledSoftmax(p.rows, p.classes, x.data<T>(), p.largest.get().data<T>(),
                       p.log_sum.get().data<T>(), factor, out);
    for (int64_t r = 0; r < p.rows; ++r)
      if (p.Counts(r)) out[r * p.classes + p.Target(r)] -= factor[r];
  });
  return dx.Permute(ClassesSecond(shape.rank()));
}

}  // namespace

Variable ClassCrossEntropy(const Variable& input, const Variable& target, int64_t ignore_index,
                           LossReduction reduction) {
  const Problem p = Pose(input, target, ignore_index);
  const Tensor losses = Losses(p, target.shape());
  if (reduction == LossReduction::kNone)
    return Record("cross_entropy", losses, {input},
                  [p, shape = input.shape()](const GradContext& g) {
                    return Gradients{InputGradient(p, g.grad(), shape)};
                  });
  // The mean over no target at all is 0 / 0.
  const double divisor = reduction == LossReduction::kMean ? static_cast<double>(CountOf(p)) : 1;
  const Tensor total = SumOver(kOp, losses.Reshape({p.rows}), {0}, false);
  return Record("cross_entropy", ApplyBinary(kOp, BinaryOp::kDiv, total, divisor), {input},
                [p, divisor, shape = input.shape()](const GradContext& g) {
                  const Tensor each = ApplyBinary(kOp, BinaryOp::kDiv, g.grad(), divisor);
                  return Gradients{InputGradient(p, each.Expand({p.rows}).Contiguous(), shape)};
                });
}

}  // namespace torus::ops
