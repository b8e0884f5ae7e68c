#include "ops/loss/class_rows.h"
#include "ops/loss/kernels.h"
#include "runtime/cuda/elements.h"
//
#include "ops/cuda/softmax_rows.h"
#include "runtime/cuda/rows.h"

namespace torus::cuda {
namespace {

template <class T>
struct Targets {
  Targets(const ops::NllTargets& t, int64_t classes)
      : rows{Elements<int64_t>(t.classes.numbers), t.classes.ignore_index, classes},
        weight(ElementsOrNull<T>(t.weight)),
        kept(static_cast<T>(1 - t.smoothing)),
        share(static_cast<T>(t.smoothing / static_cast<double>(classes))),
        smooth(t.smoothing != 0) {}
  __device__ T WeightOf(int64_t c) const { return weight == nullptr ? T(1) : weight[c]; }

  ops::ClassRows rows;
  const T* weight;  // or null
  T kept, share;    // of the probability: what the target keeps, what each class is given
  bool smooth;
};

template <class T>
struct NllRow {
  Targets<T> t;
  const T* x;
  T *loss, *scale;
  template <int kThreads>
  __device__ void Run(int64_t row) const {
    const bool counts = t.rows.Counts(row);
    const T* const in = x + row * t.rows.classes;
    // Skipped without smoothing: a class of probability 0 (x = -inf) that is not the target must
    // not matter then.
    T spread = T(0);
    if (counts && t.smooth)
      spread = t.share * SumOfRow<kThreads, T>(t.rows.classes,
                                               [&](int64_t c) { return t.WeightOf(c) * in[c]; });
    if (threadIdx.x != 0) return;
    scale[row] = counts ? t.WeightOf(t.rows.target[row]) : T(0);
    const T own = counts ? -scale[row] * x[t.rows.At(row)] : T(0);
    loss[row] = t.smooth ? t.kept * own - spread : own;
  }
};

template <class T>
struct NllBackwardRow {
  Targets<T> t;
  const T* dloss;
  T* dx;
  template <int kThreads>
  __device__ void Run(int64_t row) const {
    const int64_t target = t.rows.target[row], first = row * t.rows.classes;
    const bool counts = t.rows.Counts(row);
    const T up = dloss[row];
    for (int64_t c = threadIdx.x; c < t.rows.classes; c += kThreads) {
      T gradient = counts && t.smooth ? -up * t.share * t.WeightOf(c) : T(0);
      if (counts && c == target) gradient -= up * t.kept * t.WeightOf(c);
      dx[first + c] = gradient;
    }
  }
};

}  // namespace

void NllLoss(const Tensor& x, const ops::NllTargets& targets, Tensor& loss, Tensor& scale) {
  const StreamHandle stream = CurrentStream(loss.device());
  VisitCompute("nll_loss", x.dtype(), [&]<class T>(ComputeType<T>) {
    const Targets<T> t(targets, x.dim(-1));
    ForEachRow("nll_loss", loss.numel(), t.smooth ? x.dim(-1) : 1, stream,
               NllRow<T>{t, Elements<T>(x), MutableElements<T>(loss), MutableElements<T>(scale)});
  });
}

void NllLossBackward(const ops::NllTargets& targets, const Tensor& dloss, Tensor& dx) {
  const StreamHandle stream = CurrentStream(dx.device());
  VisitCompute("nll_loss", dx.dtype(), [&]<class T>(ComputeType<T>) {
    ForEachRow("nll_loss", dloss.numel(), dx.dim(-1), stream,
               NllBackwardRow<T>{Targets<T>(targets, dx.dim(-1)), Elements<T>(dloss),
                                 MutableElements<T>(dx)});
  });
}

}  // namespace torus::cuda
