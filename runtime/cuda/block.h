// Reductions and scans over the threads of a block, in a fixed order by thread number: the same
// bits in every run. Only for kernel sources.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "runtime/cuda/kernel.h"

namespace torus::cuda {

inline constexpr unsigned kWholeWarp = 0xffffffffu;

// Returns `value` of the lane whose number is this lane's XOR `bits`. The size of T must be a
// multiple of 32 bits.
template <class T>
__device__ T ShuffleXor(T value, int bits) {
  static_assert(sizeof(T) % sizeof(uint32_t) == 0);
  using Word = std::conditional_t<sizeof(T) % sizeof(uint64_t) == 0, uint64_t, uint32_t>;
  Word words[sizeof(T) / sizeof(Word)];
  memcpy(words, &value, sizeof(T));
  for (Word& word : words) word = __shfl_xor_sync(kWholeWarp, word, bits);
  memcpy(&value, words, sizeof(T));
  return value;
}

// Combines the values of each group of `lanes` neighbouring lanes (a power of two); every lane gets
// the result. `combine` must commute, so that all lanes get the same bits.
template <int lanes, class T, class Combine>
__device__ T CombineLanes(T value, const Combine& combine) {
  for (int bits = lanes / 2; bits > 0; bits /= 2) value = combine(value, ShuffleXor(value, bits));
  return value;
}

// Combines the values of all threads of a one-dimensional block of kThreads, a power of two from 32
// to 1024; every thread gets the result. First within each warp in a butterfly, then over the
// warps. All threads must call it.
template <int kThreads, class T, class Combine>
__device__ T CombineBlock(T value, const Combine& combine) {
  constexpr int kWarps = kThreads / 32;
  static_assert(kThreads % 32 == 0 && kWarps <= 32 && (kWarps & (kWarps - 1)) == 0);
  value = CombineLanes<32>(value, combine);
  if constexpr (kWarps > 1) {
    // As bytes, because T may have a constructor, which shared memory does not allow.
    alignas(16) __shared__ unsigned char bytes[kWarps * sizeof(T)];
    T* const of_warps = reinterpret_cast<T*>(bytes);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
    __syncthreads();
    value = CombineLanes<kWarps>(of_warps[threadIdx.x % kWarps], combine);
    __syncthreads();  // the next call writes there
  }
  return value;
}

// Combines the values of all threads whose numbers have the same rest by `columns`, a power of two
// up to 32; the first `columns` threads get the results. First within each warp in a butterfly,
// then in the order of the warps. All threads of a one-dimensional block of kThreads must call it.
template <int kThreads, int columns, class T, class Combine>
__device__ T CombineColumns(T value, const Combine& combine) {
  constexpr int kWarps = kThreads / 32;
  static_assert(kThreads % 32 == 0 && columns <= 32 && (columns & (columns - 1)) == 0);
  for (int bits = columns; bits < 32; bits *= 2) value = combine(value, ShuffleXor(value, bits));
  if constexpr (kWarps > 1) {
    alignas(16) __shared__ unsigned char bytes[kWarps * columns * sizeof(T)];
    T* const of_warps = reinterpret_cast<T*>(bytes);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane < columns) of_warps[warp * columns + lane] = value;
    __syncthreads();
    if (threadIdx.x < columns)
      for (int w = 1; w < kWarps; ++w) value = combine(value, of_warps[w * columns + lane]);
    __syncthreads();  // the next call writes there
  }
  return value;
}

// The inclusive prefix sum of `value` over the lanes of the warp.
template <class T>
__device__ T SumUpToLane(T value) {
  for (unsigned by = 1; by < 32; by *= 2) {
    const T before = __shfl_up_sync(kWholeWarp, value, by);
    if (threadIdx.x % 32 >= by) value += before;
  }
  return value;
}

// The inclusive prefix sum of `value` over the threads of a one-dimensional block of kThreads. Sets
// `all` to the sum over all threads. All threads must call it.
template <int kThreads, class T>
__device__ T SumUpToThread(T value, T& all) {
  static_assert(kThreads % 32 == 0 && kThreads <= 1024);
  __shared__ T of_warps[kThreads / 32];
  const unsigned warp = threadIdx.x / 32;
  T sum = SumUpToLane(value);
  if (threadIdx.x % 32 == 31) of_warps[warp] = sum;
  __syncthreads();
  T before = T(0);
  all = T(0);
  for (unsigned w = 0; w < kThreads / 32; ++w) {
    if (w == warp) before = all;
    all += of_warps[w];
  }
  __syncthreads();  // the next call writes there
  return before + sum;
}

struct Plus {
  template <class T>
  __device__ T operator()(const T& a, const T& b) const {
    return a + b;
  }
};

// The larger value; NaN if either is NaN.
struct Larger {
  template <class T>
  __device__ T operator()(const T& a, const T& b) const {
    return a != a || a > b ? a : b;
  }
};

// Two sums at once.
template <class T>
struct TwoSums {
  T first, second;
  __device__ friend TwoSums operator+(const TwoSums& a, const TwoSums& b) {
    return {a.first + b.first, a.second + b.second};
  }
};

}  // namespace torus::cuda
