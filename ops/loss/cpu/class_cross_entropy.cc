#include "ops/cpu/softmax_rows.h"
#include "ops/loss/class_rows.h"
#include "ops/loss/kernels.h"

namespace torus::cpu {
namespace {

ops::ClassRows RowsOf(const Tensor& x, const ops::ClassTargets& targets) {
  return {targets.numbers.data<int64_t>(), targets.ignore_index, x.dim(-1), targets.first};
}

}  // namespace

void CrossEntropy(const Tensor& x, const ops::ClassTargets& targets, Tensor& largest,
                  Tensor& log_sum, Tensor& loss) {
  const ops::ClassRows rows = RowsOf(x, targets);
  const int64_t count = targets.numbers.numel();
  VisitCompute("cross_entropy", x.dtype(), [&]<class T>(ComputeType<T>) {
    const T* logit = x.data<T>();
    T *top = largest.mutable_data<T>(), *sum = log_sum.mutable_data<T>();
    LogSumExp(count, rows.classes, logit, top, sum);
    T* out = loss.mutable_data<T>();
    for (int64_t r = 0; r < count; ++r)
      out[r] = rows.IsHere(r) ? sum[r] - (logit[rows.At(r)] - top[r]) : T(0);
  });
}

void CrossEntropyBackward(const Tensor& x, const ops::ClassTargets& targets, const Tensor& largest,
                          const Tensor& log_sum, const Tensor& dloss, Tensor& dx) {
  const ops::ClassRows rows = RowsOf(x, targets);
  const int64_t count = targets.numbers.numel();
  Tensor scale({count}, x.dtype());
  VisitCompute("cross_entropy", x.dtype(), [&]<class T>(ComputeType<T>) {
    T *factor = scale.mutable_data<T>(), *out = dx.mutable_data<T>();
    const T* gradient = dloss.data<T>();
    for (int64_t r = 0; r < count; ++r) factor[r] = rows.Counts(r) ? gradient[r] : T(0);
    ScaledSoftmax(count, rows.classes, x.data<T>(), largest.data<T>(), log_sum.data<T>(), factor,
                  out);
    for (int64_t r = 0; r < count; ++r)
      if (rows.IsHere(r)) out[rows.At(r)] -= factor[r];
  });
}

}  // namespace torus::cpu
