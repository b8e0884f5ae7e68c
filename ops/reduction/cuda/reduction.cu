#include "ops/reduction/kernels.h"
#include "ops/sum/running_type.h"
#include "runtime/cuda/elements.h"
//
#include "runtime/cuda/block.h"
#include "runtime/cuda/for_each.h"
#include "runtime/cuda/rows.h"

namespace torus::cuda {
namespace {

constexpr int64_t kNowhere = INT64_MAX;

template <class T>
struct Found {
  T value;
  int64_t at;
};

// The first most extreme element; NaN counts as more extreme than any number.
struct MoreExtreme {
  bool smallest;
  template <class T>
  __device__ Found<T> operator()(const Found<T>& a, const Found<T>& b) const {
    if (a.at == kNowhere || b.at == kNowhere) return a.at == kNowhere ? b : a;
    const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    if (a_nan != b_nan) return a_nan ? a : b;
    if (a_nan || a.value == b.value) return a.at < b.at ? a : b;
    return (a.value > b.value) != smallest ? a : b;
  }
};

template <class T>
struct ExtremeOfRow {
  int64_t count;
  MoreExtreme more;
  const T* x;
  T* value;
  int64_t* where;
  template <int kThreads>
  __device__ void Run(int64_t row) const {
    Found<T> best{T(0), kNowhere};
    for (int64_t c = threadIdx.x; c < count; c += kThreads)
      best = more(best, Found<T>{x[row * count + c], c});
    best = CombineBlock<kThreads>(best, more);
    if (threadIdx.x != 0) return;
    value[row] = best.value;
    where[row] = best.at;
  }
};

struct Times {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a * b;
  }
};

template <class T>
struct ProductOfRow {
  using Running = ops::RunningType<T>;
  int64_t count;
  const T* x;
  T* value;
  template <int kThreads>
  __device__ void Run(int64_t row) const {
    Running product = 1;
    for (int64_t c = threadIdx.x; c < count; c += kThreads)
      product *= static_cast<Running>(x[row * count + c]);
    product = CombineBlock<kThreads>(product, Times());
    if (threadIdx.x == 0) value[row] = static_cast<T>(product);
  }
};

// One thread per column.
template <class T>
struct CumsumColumn {
  int64_t count, inner;
  bool reverse;
  const T* x;
  T* y;
  __device__ void operator()(int64_t i) const {
    const int64_t begin = i / inner * count * inner + i % inner;
    ops::RunningType<T> total = 0;
    for (int64_t c = 0; c < count; ++c) {
      const int64_t at = begin + (reverse ? count - 1 - c : c) * inner;
      y[at] = static_cast<T>(total += static_cast<ops::RunningType<T>>(x[at]));
    }
  }
};

// One block per row, which processes as many elements at a time as it has threads.
template <class T>
struct CumsumRow {
  int64_t count;
  bool reverse;
  const T* x;
  T* y;
  template <int kThreads>
  __device__ void Run(int64_t row) const {
    using Running = ops::RunningType<T>;
    Running before = 0, all;  // the sums of all earlier pieces, and of this one
    for (int64_t first = 0; first < count; first += kThreads) {
      const int64_t c = first + threadIdx.x;
      const int64_t at = row * count + (reverse ? count - 1 - c : c);
      const Running value = c < count ? static_cast<Running>(x[at]) : Running(0);
      const Running sum = SumUpToThread<kThreads>(value, all);
      if (c < count) y[at] = static_cast<T>(before + sum);
      before += all;
    }
  }
};

}  // namespace

void ExtremeOfRows(std::string_view op, bool smallest, const Tensor& x, Tensor& value,
                   Tensor& where) {
  const StreamHandle stream = CurrentStream(value.device());
  ops::VisitNumbers(op, x.dtype(), [&]<class T>(ComputeType<T>) {
    ForEachRow(op, x.dim(0), x.dim(1), stream,
               ExtremeOfRow<T>{x.dim(1),
                               {smallest},
                               Elements<T>(x),
                               MutableElements<T>(value),
                               MutableElements<int64_t>(where)});
  });
}

void ProductOfRows(std::string_view op, const Tensor& x, Tensor& value) {
  const StreamHandle stream = CurrentStream(value.device());
  ops::VisitNumbers(op, x.dtype(), [&]<class T>(ComputeType<T>) {
    ForEachRow(op, x.dim(0), x.dim(1), stream,
               ProductOfRow<T>{x.dim(1), Elements<T>(x), MutableElements<T>(value)});
  });
}

void Cumsum(const Tensor& x, bool reverse, Tensor& y) {
  const StreamHandle stream = CurrentStream(y.device());
  const int64_t outer = x.dim(0), count = x.dim(1), inner = x.dim(2);
  if (x.numel() == 0) return;
  ops::VisitNumbers("cumsum", x.dtype(), [&]<class T>(ComputeType<T>) {
    const T* in = Elements<T>(x);
    T* out = MutableElements<T>(y);
    if (inner == 1)
      ForEachRow("cumsum", outer, count, stream, CumsumRow<T>{count, reverse, in, out});
    else
      ForEach("cumsum", outer * inner, stream, CumsumColumn<T>{count, inner, reverse, in, out});
  });
}

}  // namespace torus::cuda
