#include <algorithm>

#include "ops/loss/kernels.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

template <class T>
struct Targets {
  Targets(const ops::NllTargets& t, int64_t classes)
      : rows(t.classes.numbers.numel()),
        classes(classes),
        target(t.classes.numbers.data<int64_t>()),
        weight(t.weight.defined() ? t.weight.data<T>() : nullptr),
        ignore_index(t.classes.ignore_index),
        smoothing(t.smoothing) {}

  int64_t rows, classes;
  const int64_t* target;
  const T* weight;  // or null
  int64_t ignore_index;
  double smoothing;
};

template <class T>
T WeightOf(const Targets<T>& t, int64_t c) {
  return t.weight == nullptr ? T(1) : t.weight[c];
}

// One thread computes a whole row, so the split changes no bits.
template <class T, class Row>
void OverTargets(const Targets<T>& t, const Row& row) {
  ParallelFor(t.rows, (1 << 14) / (t.classes + 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) row(r);
  });
}

// sum_c w[c] x[c], in double because a vocabulary may be large.
template <class T>
double WeightedSum(const Targets<T>& t, const T* x) {
  double sum = 0;
  for (int64_t c = 0; c < t.classes; ++c) sum += static_cast<double>(WeightOf(t, c)) * x[c];
  return sum;
}

template <class T>
void NllForward(const Targets<T>& t, const T* x, T* loss, T* scale) {
  OverTargets(t, [&](int64_t r) {
    const int64_t target = t.target[r];
    if (target == t.ignore_index) {
      loss[r] = scale[r] = T(0);
      return;
    }
    const T* row = x + r * t.classes;
    scale[r] = WeightOf(t, target);
    loss[r] = -scale[r] * row[target];
    // Skipped without smoothing: a class of probability 0 (x = -inf) that is not the target must
    // not matter then.
    if (t.smoothing != 0)
      loss[r] = static_cast<T>((1 - t.smoothing) * loss[r] -
                               t.smoothing / static_cast<double>(t.classes) * WeightedSum(t, row));
  });
}

template <class T>
void NllBackward(const Targets<T>& t, const T* dloss, T* dx) {
  const T share = static_cast<T>(t.smoothing / static_cast<double>(t.classes));
  OverTargets(t, [&](int64_t r) {
    T* row = dx + r * t.classes;
    const int64_t target = t.target[r];
    if (target == t.ignore_index || t.smoothing == 0) {
      std::fill(row, row + t.classes, T(0));
    } else {
      for (int64_t c = 0; c < t.classes; ++c) row[c] = -dloss[r] * share * WeightOf(t, c);
    }
    if (target != t.ignore_index)
      row[target] -= dloss[r] * static_cast<T>(1 - t.smoothing) * WeightOf(t, target);
  });
}

}  // namespace

void NllLoss(const Tensor& x, const ops::NllTargets& targets, Tensor& loss, Tensor& scale) {
  VisitCompute("nll_loss", x.dtype(), [&]<class T>(ComputeType<T>) {
    NllForward(Targets<T>(targets, x.dim(-1)), x.data<T>(), loss.mutable_data<T>(),
               scale.mutable_data<T>());
  });
}

void NllLossBackward(const ops::NllTargets& targets, const Tensor& dloss, Tensor& dx) {
  VisitCompute("nll_loss", dx.dtype(), [&]<class T>(ComputeType<T>) {
    NllBackward(Targets<T>(targets, dx.dim(-1)), dloss.data<T>(), dx.mutable_data<T>());
  });
}

}  // namespace torus::cpu
