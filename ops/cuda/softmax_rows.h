// Row reductions of softmax, computed by the threads that share a row (runtime/cuda/rows.h). For
// kernel sources only.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "runtime/cuda/block.h"
#include "runtime/cuda/pack.h"
#include "runtime/cuda/unroll.h"

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

// The largest of some elements, and the sum of exp(x_i - largest).
template <class T>
struct SumExp {
  T largest = -std::numeric_limits<T>::infinity();
  T sum = T(0);  // 0 of no elements, and of -inf alone
  // Adds the first `count` of them. The sum is rescaled once for all, if at all. A NaN makes it
  // NaN, and so does an infinity that is the largest: x - x is then NaN.
  template <int n>
  __device__ void Add(const T (&x)[n], int count) {
    T top = largest;
    TORUS_UNROLL
    for (int k = 0; k < n; ++k) top = k < count && x[k] > top ? x[k] : top;
    if (top > largest) {
      sum *= std::exp(largest - top);
      largest = top;
    }
    const T offset = largest == -std::numeric_limits<T>::infinity() ? T(0) : largest;
    TORUS_UNROLL
    for (int k = 0; k < n; ++k) sum += k < count ? std::exp(x[k] - offset) : T(0);
  }
};

struct JoinSumExp {
  template <class T>
  __device__ SumExp<T> operator()(const SumExp<T>& a, const SumExp<T>& b) const {
    if (a.sum == T(0)) return b;
    if (b.sum == T(0)) return a;
    const T top = a.largest > b.largest ? a.largest : b.largest;
    return {top, a.sum * std::exp(a.largest - top) + b.sum * std::exp(b.largest - top)};
  }
};

// Of a row of n elements that begins at a pack, read once (Milakov and Gimelshein, "Online
// normalizer calculation for softmax", algorithm 3); returned to all threads of the row.
template <int kThreads, class T>
__device__ SumExp<T> SumExpOfRow(int64_t n, const T* x) {
  constexpr int kPack = kPackOf<T>;
  SumExp<T> own;
  ForEachPack<kThreads, kPack>(
      n, [&](int64_t first, int count) { own.Add(LoadPack<kPack>(x + first, count).at, count); });
  return CombineBlock<kThreads>(own, JoinSumExp());
}

// Softmax of a row, from its largest element and log_sum = log sum_i exp(x_i - largest).
template <class T>
struct SoftmaxOf {
  const T* x;
  T largest, log_sum;
  __device__ T operator()(int64_t i) const { return std::exp(x[i] - largest - log_sum); }
};

}  // namespace torus::cuda
