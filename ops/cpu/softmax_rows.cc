// The plain f64 kernels; those of f32 are in softmax_rows_vector.cc.
#include "ops/cpu/softmax_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

// One thread computes a whole row, so the split changes no bits.
template <class Row>
void OverRows(int64_t rows, int64_t n, const Row& row) {
  ParallelFor(rows, (1 << 12) / (n + 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) row(r * n);
  });
}

// -inf over nothing. NaN does not win here; it reaches the row through exp.
template <class T>
T Largest(const T* x, int64_t n) {
  T largest = -std::numeric_limits<T>::infinity();
#pragma omp simd reduction(max : largest)
  for (int64_t i = 0; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
  return largest;
}

// Sum of term(i), in independent lanes that vectorise.
template <class T, class Term>
T Sum(int64_t n, const Term& term) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += term(i);
  return sum;
}

}  // namespace

template <class T>
void Softmax(int64_t rows, int64_t n, const T* x, T* y) {
  OverRows(rows, n, [=](int64_t at) {
    const T* in = x + at;
    T* out = y + at;
    const T largest = Largest(in, n);
    for (int64_t i = 0; i < n; ++i) out[i] = std::exp(in[i] - largest);
    const T scale = T(1) / Sum<T>(n, [=](int64_t i) { return out[i]; });
    for (int64_t i = 0; i < n; ++i) out[i] *= scale;
  });
}

template <class T>
void SoftmaxBackward(int64_t rows, int64_t n, const T* y, const T* dy, T* dx) {
  OverRows(rows, n, [=](int64_t at) {
    const T *out = y + at, *g = dy + at;
    const T dot = Sum<T>(n, [=](int64_t i) { return out[i] * g[i]; });
    for (int64_t i = 0; i < n; ++i) dx[at + i] = out[i] * (g[i] - dot);
  });
}

template <class T>
void LogSoftmax(int64_t rows, int64_t n, const T* x, T* y) {
  OverRows(rows, n, [=](int64_t at) {
    const T* in = x + at;
    const T largest = Largest(in, n);
    const T log_sum = std::log(Sum<T>(n, [=](int64_t i) { return std::exp(in[i] - largest); }));
    for (int64_t i = 0; i < n; ++i) y[at + i] = in[i] - largest - log_sum;
  });
}

template <class T>
void LogSoftmaxBackward(int64_t rows, int64_t n, const T* y, const T* dy, T* dx) {
  OverRows(rows, n, [=](int64_t at) {
    const T* g = dy + at;
    const T sum = Sum<T>(n, [=](int64_t i) { return g[i]; });
    for (int64_t i = 0; i < n; ++i) dx[at + i] = g[i] - std::exp(y[at + i]) * sum;
  });
}

template <class T>
void LogSumExp(int64_t rows, int64_t n, const T* x, T* largest, T* log_sum) {
  OverRows(rows, n, [=](int64_t at) {
    const T *in = x + at, top = Largest(in, n);
    largest[at / n] = top;
    log_sum[at / n] = std::log(Sum<T>(n, [=](int64_t i) { return std::exp(in[i] - top); }));
  });
}

template <class T>
void ScaledSoftmax(int64_t rows, int64_t n, const T* x, const T* largest, const T* log_sum,
                   const T* scale, T* y) {
  OverRows(rows, n, [=](int64_t at) {
    const T factor = scale[at / n], top = largest[at / n], sum = log_sum[at / n];
    for (int64_t i = at; i < at + n; ++i)
      y[i] = factor == T(0) ? T(0) : factor * std::exp(x[i] - top - sum);
  });
}

template void LogSumExp(int64_t, int64_t, const double*, double*, double*);
template void ScaledSoftmax(int64_t, int64_t, const double*, const double*, const double*,
                            const double*, double*);
template void Softmax(int64_t, int64_t, const double*, double*);
template void SoftmaxBackward(int64_t, int64_t, const double*, const double*, double*);
template void LogSoftmax(int64_t, int64_t, const double*, double*);
template void LogSoftmaxBackward(int64_t, int64_t, const double*, const double*, double*);

}  // namespace torus::cpu
