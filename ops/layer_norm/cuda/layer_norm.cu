#include <cmath>

#include "ops/layer_norm/cuda/layer_norm.h"
#include "runtime/cuda/elements.h"
//
#include "runtime/cuda/block.h"
#include "runtime/cuda/column_sums.h"
#include "runtime/cuda/rows.h"

namespace torus::cuda {
namespace {

template <class T>
struct NormalizeRow {
  int64_t n;
  double eps;
  const T *x, *weight, *bias;
  T *y, *mean, *rstd;

  template <int kThreads>
  __device__ void Run(int64_t row) const {
    const T* in = x + row * n;
    T sum = T(0);
    for (int64_t i = threadIdx.x; i < n; i += kThreads) sum += in[i];
    const T middle = CombineBlock<kThreads>(sum, Plus()) / static_cast<T>(n);
    // A second pass subtracts the mean, which avoids cancellation.
    T squares = T(0);
    for (int64_t i = threadIdx.x; i < n; i += kThreads)
      squares += (in[i] - middle) * (in[i] - middle);
    const T variance = CombineBlock<kThreads>(squares, Plus()) / static_cast<T>(n);
    const T scale = static_cast<T>(1 / std::sqrt(static_cast<double>(variance) + eps));
    for (int64_t i = threadIdx.x; i < n; i += kThreads)
      y[row * n + i] = (in[i] - middle) * scale * weight[i] + bias[i];
    if (threadIdx.x != 0) return;
    mean[row] = middle;
    rstd[row] = scale;
  }
};

// dx = rstd (g - mean(g) - x^ mean(g x^)), g = dy weight
template <class T>
struct BackwardRow {
  int64_t n;
  const T *dy, *x, *mean, *rstd, *weight;
  T* dx;

  template <int kThreads>
  __device__ void Run(int64_t row) const {
    const T *up = dy + row * n, *in = x + row * n;
    const T middle = mean[row], scale = rstd[row];
    TwoSums<T> sums{T(0), T(0)};
    for (int64_t i = threadIdx.x; i < n; i += kThreads) {
      const T g = up[i] * weight[i];
      sums = sums + TwoSums<T>{g, g * ((in[i] - middle) * scale)};
    }
    sums = CombineBlock<kThreads>(sums, Plus());
    const T offset = sums.first / static_cast<T>(n), slope = sums.second / static_cast<T>(n);
    for (int64_t i = threadIdx.x; i < n; i += kThreads) {
      const T normal = (in[i] - middle) * scale;
      dx[row * n + i] = scale * (up[i] * weight[i] - offset - normal * slope);
    }
  }
};

// dy x^
template <class T>
struct WeightTerm {
  const T *dy, *x, *mean, *rstd;
  __device__ T operator()(int64_t at, int64_t row) const {
    return dy[at] * ((x[at] - mean[row]) * rstd[row]);
  }
};

// The sum of load over the rows, for each column. `inner` tells SumColumns a row's length, which
// may be 1: then a column is contiguous like a row.
template <class T, class Load>
void SumRows(int64_t rows, const Load& load, Tensor& out, StreamHandle stream) {
  SumColumns("layer_norm", 1, rows, out.numel(), load, 1, MutableElements<T>(out), out.device(),
             stream);
}

}  // namespace

void LayerNorm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps, Tensor& y,
               Tensor& mean, Tensor& rstd, StreamHandle stream) {
  const int64_t n = weight.numel();
  VisitCompute("layer_norm", x.dtype(), [&]<class T>(ComputeType<T>) {
    ForEachRow(
        "layer_norm", mean.numel(), n, stream,
        NormalizeRow<T>{n, eps, Elements<T>(x), Elements<T>(weight), Elements<T>(bias),
                        MutableElements<T>(y), MutableElements<T>(mean), MutableElements<T>(rstd)});
  });
}

void LayerNormBackward(const Tensor& dy, const Tensor& x, const Tensor& mean, const Tensor& rstd,
                       const Tensor& weight, Tensor& dx, Tensor& dweight, Tensor& dbias,
                       StreamHandle stream) {
  const int64_t rows = mean.numel(), n = weight.numel();
  VisitCompute("layer_norm", x.dtype(), [&]<class T>(ComputeType<T>) {
    const T *up = Elements<T>(dy), *in = Elements<T>(x);
    const T *middle = Elements<T>(mean), *scale = Elements<T>(rstd);
    if (dx.defined())
      ForEachRow(
          "layer_norm", rows, n, stream,
          BackwardRow<T>{n, up, in, middle, scale, Elements<T>(weight), MutableElements<T>(dx)});
    if (dweight.defined()) SumRows<T>(rows, WeightTerm<T>{up, in, middle, scale}, dweight, stream);
    if (dbias.defined()) SumRows<T>(rows, LoadFrom<T>{up}, dbias, stream);
  });
}

}  // namespace torus::cuda
