#include <cmath>

#include "ops/softmax/kernels.h"
#include "runtime/cuda/elements.h"
#include "runtime/rows.h"
//
#include "ops/cuda/softmax_rows.h"
#include "runtime/cuda/rows.h"

namespace torus::cuda {
namespace {

// Softmax of a row, or its logarithm.
template <class T, bool logarithm>
struct SoftmaxRow {
  int64_t n;
  const T* x;
  T* y;
  template <int kThreads>
  __device__ void Run(int64_t row) const {
    const T* in = x + row * n;
    T* out = y + row * n;
    const ExpLess<T> term{in, LargestOfRow<kThreads>(n, in)};
    const T sum = SumOfRow<kThreads, T>(n, term);
    const T norm = logarithm ? std::log(sum) : T(1) / sum;
    for (int64_t i = threadIdx.x; i < n; i += kThreads)
      out[i] = logarithm ? in[i] - term.largest - norm : term(i) * norm;
  }
};

template <class T, bool logarithm>
struct SoftmaxBackwardRow {
  int64_t n;
  const T *y, *dy;
  T* dx;
  template <int kThreads>
  __device__ void Run(int64_t row) const {
    const T *out = y + row * n, *g = dy + row * n;
    T* to = dx + row * n;
    const T sum =
        SumOfRow<kThreads, T>(n, [&](int64_t i) { return logarithm ? g[i] : out[i] * g[i]; });
    for (int64_t i = threadIdx.x; i < n; i += kThreads)
      to[i] = logarithm ? g[i] - std::exp(out[i]) * sum : out[i] * (g[i] - sum);
  }
};

template <bool logarithm>
void Forward(std::string_view op, const Tensor& x, Tensor& y, StreamHandle stream) {
  VisitCompute(op, x.dtype(), [&]<class T>(ComputeType<T>) {
    ForEachRow(op, RowCount(x), RowLength(x), stream,
               SoftmaxRow<T, logarithm>{RowLength(x), Elements<T>(x), MutableElements<T>(y)});
  });
}

template <bool logarithm>
void Backward(std::string_view op, const Tensor& y, const Tensor& dy, Tensor& dx,
              StreamHandle stream) {
  VisitCompute(op, y.dtype(), [&]<class T>(ComputeType<T>) {
    ForEachRow(op, RowCount(y), RowLength(y), stream,
               SoftmaxBackwardRow<T, logarithm>{RowLength(y), Elements<T>(y), Elements<T>(dy),
                                                MutableElements<T>(dx)});
  });
}

}  // namespace

void Softmax(const Tensor& x, Tensor& y) {
  const StreamHandle stream = CurrentStream(y.device());
  Forward<false>("softmax", x, y, stream);
}

void SoftmaxBackward(const Tensor& y, const Tensor& dy, Tensor& dx) {
  const StreamHandle stream = CurrentStream(dx.device());
  Backward<false>("softmax", y, dy, dx, stream);
}

void LogSoftmax(const Tensor& x, Tensor& y) {
  const StreamHandle stream = CurrentStream(y.device());
  Forward<true>("log_softmax", x, y, stream);
}

void LogSoftmaxBackward(const Tensor& y, const Tensor& dy, Tensor& dx) {
  const StreamHandle stream = CurrentStream(dx.device());
  Backward<true>("log_softmax", y, dy, dx, stream);
}

}  // namespace torus::cuda
