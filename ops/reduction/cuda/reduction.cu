#include "ops/reduction/kernels.h"
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

// The first largest element; NaN counts as larger than any number.
struct LargerOf {
  template <class T>
  __device__ Found<T> operator()(const Found<T>& a, const Found<T>& b) const {
    if (a.at == kNowhere || b.at == kNowhere) return a.at == kNowhere ? b : a;
    const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    if (a_nan != b_nan) return a_nan ? a : b;
    if (a_nan || a.value == b.value) return a.at < b.at ? a : b;
    return a.value > b.value ? a : b;
  }
};

template <class T>
struct LargestOfRow {
  int64_t count;
  const T* x;
  T* value;
  int64_t* where;
  template <int kThreads>
  __device__ void Run(int64_t row) const {
    Found<T> best{T(0), kNowhere};
    for (int64_t c = threadIdx.x; c < count; c += kThreads)
      best = LargerOf()(best, Found<T>{x[row * count + c], c});
    best = CombineBlock<kThreads>(best, LargerOf());
    if (threadIdx.x != 0) return;
    value[row] = best.value;
    where[row] = best.at;
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
    double total = 0;
    for (int64_t c = 0; c < count; ++c) {
      const int64_t at = begin + (reverse ? count - 1 - c : c) * inner;
      y[at] = static_cast<T>(total += x[at]);
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
    double before = 0, all;  // the sums of all earlier pieces, and of this one
    for (int64_t first = 0; first < count; first += kThreads) {
      const int64_t c = first + threadIdx.x;
      const int64_t at = row * count + (reverse ? count - 1 - c : c);
      const double value = c < count ? static_cast<double>(x[at]) : 0.0;
      const double sum = SumUpToThread<kThreads>(value, all);
      if (c < count) y[at] = static_cast<T>(before + sum);
      before += all;
    }
  }
};

}  // namespace

void LargestOfRows(std::string_view op, const Tensor& x, Tensor& value, Tensor& where) {
  const StreamHandle stream = CurrentStream(value.device());
  VisitCompute(op, x.dtype(), [&]<class T>(ComputeType<T>) {
    ForEachRow(op, x.dim(0), x.dim(1), stream,
               LargestOfRow<T>{x.dim(1), Elements<T>(x), MutableElements<T>(value),
                               MutableElements<int64_t>(where)});
  });
}

void Cumsum(const Tensor& x, bool reverse, Tensor& y) {
  const StreamHandle stream = CurrentStream(y.device());
  const int64_t outer = x.dim(0), count = x.dim(1), inner = x.dim(2);
  if (x.numel() == 0) return;
  VisitCompute("cumsum", x.dtype(), [&]<class T>(ComputeType<T>) {
    const T* in = Elements<T>(x);
    T* out = MutableElements<T>(y);
    if (inner == 1)
      ForEachRow("cumsum", outer, count, stream, CumsumRow<T>{count, reverse, in, out});
    else
      ForEach("cumsum", outer * inner, stream, CumsumColumn<T>{count, inner, reverse, in, out});
  });
}

}  // namespace torus::cuda
