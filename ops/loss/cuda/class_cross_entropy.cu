#include "ops/loss/class_rows.h"
#include "ops/loss/kernels.h"
#include "runtime/cuda/elements.h"
//
#include "ops/cuda/softmax_rows.h"
#include "runtime/cuda/rows.h"

namespace torus::cuda {
namespace {

ops::ClassRows RowsOf(const Tensor& x, const ops::ClassTargets& targets) {
  return {Elements<int64_t>(targets.numbers), targets.ignore_index, x.dim(-1), targets.first};
}

template <class T>
struct EntropyRow {
  ops::ClassRows rows;
  const T* x;
  T *largest, *log_sum, *loss;
  template <int kThreads>
  __device__ void Run(int64_t row) const {
    const T* in = x + row * rows.classes;
    const T top = LargestOfRow<kThreads>(rows.classes, in);
    const T sum = std::log(SumOfRow<kThreads, T>(rows.classes, ExpLess<T>{in, top}));
    if (threadIdx.x != 0) return;
    largest[row] = top;
    log_sum[row] = sum;
    loss[row] = rows.IsHere(row) ? sum - (x[rows.At(row)] - top) : T(0);
  }
};

template <class T>
struct EntropyBackwardRow {
  ops::ClassRows rows;
  const T *x, *largest, *log_sum, *dloss;
  T* dx;
  template <int kThreads>
  __device__ void Run(int64_t row) const {
    const int64_t first = row * rows.classes, target = rows.target[row] - rows.first;
    const bool counts = rows.Counts(row);
    const T factor = dloss[row];
    const SoftmaxOf<T> softmax{x + first, largest[row], log_sum[row]};
    for (int64_t c = threadIdx.x; c < rows.classes; c += kThreads)
      dx[first + c] = !counts ? T(0) : factor * softmax(c) - (c == target ? factor : T(0));
  }
};

}  // namespace

void CrossEntropy(const Tensor& x, const ops::ClassTargets& targets, Tensor& largest,
                  Tensor& log_sum, Tensor& loss) {
  const StreamHandle stream = CurrentStream(loss.device());
  const ops::ClassRows rows = RowsOf(x, targets);
  VisitCompute("cross_entropy", x.dtype(), [&]<class T>(ComputeType<T>) {
    ForEachRow("cross_entropy", targets.numbers.numel(), rows.classes, stream,
               EntropyRow<T>{rows, Elements<T>(x), MutableElements<T>(largest),
                             MutableElements<T>(log_sum), MutableElements<T>(loss)});
  });
}

void CrossEntropyBackward(const Tensor& x, const ops::ClassTargets& targets, const Tensor& largest,
                          const Tensor& log_sum, const Tensor& dloss, Tensor& dx) {
  const StreamHandle stream = CurrentStream(dx.device());
  const ops::ClassRows rows = RowsOf(x, targets);
  VisitCompute("cross_entropy", x.dtype(), [&]<class T>(ComputeType<T>) {
    ForEachRow(
        "cross_entropy", targets.numbers.numel(), rows.classes, stream,
        EntropyBackwardRow<T>{rows, Elements<T>(x), Elements<T>(largest), Elements<T>(log_sum),
                              Elements<T>(dloss), MutableElements<T>(dx)});
  });
}

}  // namespace torus::cuda
