#include "ops/loss/cpu/class_cross_entropy.h"

#include "ops/cpu/softmax_rows.h"

namespace torus::cpu {
namespace {

// The numbers of x: its rows and their length. The targets hold one of each row.
struct Rows {
  Rows(const Tensor& x, const ops::ClassTargets& t)
      : count(t.numbers.numel()),
        classes(x.dim(-1)),
        target(t.numbers.data<int64_t>()),
        ignore_index(t.ignore_index) {}
  bool Counts(int64_t row) const { return target[row] != ignore_index; }
  // Where row's target is in x.
  int64_t At(int64_t row) const { return row * classes + target[row]; }

  int64_t count, classes;
  const int64_t* target;
  int64_t ignore_index;
};

}  // namespace

void CrossEntropy(const Tensor& x, const ops::ClassTargets& targets, Tensor& largest,
                  Tensor& log_sum, Tensor& loss) {
  const Rows rows(x, targets);
  VisitCompute("cross_entropy", x.dtype(), [&]<class T>(ComputeType<T>) {
    const T* logit = x.data<T>();
    T *top = largest.mutable_data<T>(), *sum = log_sum.mutable_data<T>();
    LogSumExp(rows.count, rows.classes, logit, top, sum);
    T* out = loss.mutable_data<T>();
    for (int64_t r = 0; r < rows.count; ++r)
      out[r] = rows.Counts(r) ? sum[r] - (logit[rows.At(r)] - top[r]) : T(0);
  });
}

void CrossEntropyBackward(const Tensor& x, const ops::ClassTargets& targets, const Tensor& largest,
                          const Tensor& log_sum, const Tensor& dloss, Tensor& dx) {
  const Rows rows(x, targets);
  Tensor scale({rows.count}, x.dtype());
  VisitCompute("cross_entropy", x.dtype(), [&]<class T>(ComputeType<T>) {
    T *factor = scale.mutable_data<T>(), *out = dx.mutable_data<T>();
    const T* gradient = dloss.data<T>();
    for (int64_t r = 0; r < rows.count; ++r) factor[r] = rows.Counts(r) ? gradient[r] : T(0);
    ScaledSoftmax(rows.count, rows.classes, x.data<T>(), largest.data<T>(), log_sum.data<T>(),
                  factor, out);
    for (int64_t r = 0; r < rows.count; ++r)
      if (rows.Counts(r)) out[rows.At(r)] -= factor[r];
  });
}

}  // namespace torus::cpu
