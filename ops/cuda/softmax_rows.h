// Row reductions of softmax, computed by the threads that share a row (runtime/cuda/rows.h). For
// kernel sources only.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "runtime/cuda/block.h"

namespace torus::cuda {

// The sum of term(i) over a row of n elements, returned to all threads of the row.
template <int kThreads, class T, class Term>
__device__ T SumOfRow(int64_t n, const Term& term) {
  T sum = T(0);
  for (int64_t i = threadIdx.x; i < n; i += kThreads) sum += term(i);
  return CombineBlock<kThreads>(sum, Plus());
}

// The largest element, returned to all threads of the row; -inf for an empty row.
template <int kThreads, class T>
__device__ T LargestOfRow(int64_t n, const T* x) {
  T largest = -std::numeric_limits<T>::infinity();
  for (int64_t i = threadIdx.x; i < n; i += kThreads) largest = Larger()(largest, x[i]);
  return CombineBlock<kThreads>(largest, Larger());
}

template <class T>
struct ExpLess {
  const T* x;
  T largest;
  __device__ T operator()(int64_t i) const { return std::exp(x[i] - largest); }
};

// Softmax of a row, from its largest element and log_sum = log sum_i exp(x_i - largest).
template <class T>
struct SoftmaxOf {
  const T* x;
  T largest, log_sum;
  __device__ T operator()(int64_t i) const { return std::exp(x[i] - largest - log_sum); }
};

}  // namespace torus::cuda
