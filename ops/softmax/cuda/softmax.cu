#include <cmath>

#include "ops/softmax/cuda/softmax.h"
#include "runtime/cuda/elements.h"
//
#include "ops/cuda/softmax_rows.h"
#include "runtime/cuda/rows.h"

namespace torus::cuda {
namespace {

template <class T>
struct SoftmaxRow {
  int64_t n;
  const T* x;
  T* y;
  template <int kThreads>
  __device__ void Run(int64_t row) const {
    const T* in = x + row * n;
    const ExpLess<T> term{in, LargestOfRow<kThreads>(n, in)};
    const T scale = T(1) / SumOfRow<kThreads, T>(n, term);
    for (int64_t i = threadIdx.x; i < n; i += kThreads) y[row * n + i] = term(i) * scale;
  }
};

template <class T>
struct SoftmaxBackwardRow {
  int64_t n;
  const T *y, *dy;
  T* dx;
  template <int kThreads>
  __device__ void Run(int64_t row) const {
    const T *out = y + row * n, *g = dy + row * n;
    const T dot = SumOfRow<kThreads, T>(n, [&](int64_t i) { return out[i] * g[i]; });
    for (int64_t i = threadIdx.x; i < n; i += kThreads) dx[row * n + i] = out[i] * (g[i] - dot);
  }
};

template <class T>
struct LogSoftmaxRow {
  int64_t n;
  const T* x;
  T* y;
  template <int kThreads>
  __device__ void Run(int64_t row) const {
    const T* in = x + row * n;
    const T largest = LargestOfRow<kThreads>(n, in);
    const T log_sum = std::log(SumOfRow<kThreads, T>(n, ExpLess<T>{in, largest}));
    for (int64_t i = threadIdx.x; i < n; i += kThreads) y[row * n + i] = in[i] - largest - log_sum;
  }
};

template <class T>
struct LogSoftmaxBackwardRow {
  int64_t n;
  const T *y, *dy;
  T* dx;
  template <int kThreads>
  __device__ void Run(int64_t row) const {
    const T *out = y + row * n, *g = dy + row * n;
    const T sum = SumOfRow<kThreads, T>(n, [&](int64_t i) { return g[i]; });
    for (int64_t i = threadIdx.x; i < n; i += kThreads)
      dx[row * n + i] = g[i] - std::exp(out[i]) * sum;
  }
};

int64_t RowLength(const Tensor& rows) { return rows.rank() == 0 ? 1 : rows.dim(-1); }

int64_t RowCount(const Tensor& rows) {
  return rows.numel() == 0 ? 0 : rows.numel() / RowLength(rows);
}

template <template <class> class Row>
void Forward(std::string_view op, const Tensor& x, Tensor& y, StreamHandle stream) {
  VisitCompute(op, x.dtype(), [&]<class T>(ComputeType<T>) {
    ForEachRow(op, RowCount(x), RowLength(x), stream,
               Row<T>{RowLength(x), Elements<T>(x), MutableElements<T>(y)});
  });
}

template <template <class> class Row>
void Backward(std::string_view op, const Tensor& y, const Tensor& dy, Tensor& dx,
              StreamHandle stream) {
  VisitCompute(op, y.dtype(), [&]<class T>(ComputeType<T>) {
    ForEachRow(op, RowCount(y), RowLength(y), stream,
               Row<T>{RowLength(y), Elements<T>(y), Elements<T>(dy), MutableElements<T>(dx)});
  });
}

}  // namespace

void Softmax(const Tensor& x, Tensor& y, StreamHandle stream) {
  Forward<SoftmaxRow>("softmax", x, y, stream);
}

void SoftmaxBackward(const Tensor& y, const Tensor& dy, Tensor& dx, StreamHandle stream) {
  Backward<SoftmaxBackwardRow>("softmax", y, dy, dx, stream);
}

void LogSoftmax(const Tensor& x, Tensor& y, StreamHandle stream) {
  Forward<LogSoftmaxRow>("log_softmax", x, y, stream);
}

void LogSoftmaxBackward(const Tensor& y, const Tensor& dy, Tensor& dx, StreamHandle stream) {
  Backward<LogSoftmaxBackwardRow>("log_softmax", y, dy, dx, stream);
}

}  // namespace torus::cuda
