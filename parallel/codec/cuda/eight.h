// Loads and stores eight neighbouring values at once: eight codes of any width fill whole bytes.
// For kernel sources only.
#pragma once

#include <cstdint>

#include "runtime/cuda/kernel.h"

namespace torus::parallel::cuda {

template <class T>
struct alignas(4 * sizeof(T)) Four {
  T at[4];
};

template <class T>
struct Eight {
  T at[8];
};

// Whether memory is aligned for access to four values at a time.
template <class T>
bool IsAlignedForFour(const T* memory) {
  return reinterpret_cast<uintptr_t>(memory) % sizeof(Four<T>) == 0;
}

template <class T>
__device__ Eight<T> LoadEight(const T* from, bool aligned) {
  Eight<T> values;
  if (aligned) {
    const Four<T>* const fours = reinterpret_cast<const Four<T>*>(from);
    const Four<T> first = fours[0], second = fours[1];
    for (int j = 0; j < 4; ++j) {
      values.at[j] = first.at[j];
      values.at[4 + j] = second.at[j];
    }
  } else {
    for (int j = 0; j < 8; ++j) values.at[j] = from[j];
  }
  return values;
}

template <class T>
__device__ void StoreEight(const Eight<T>& values, T* to, bool aligned) {
  if (aligned) {
    Four<T> first, second;
    for (int j = 0; j < 4; ++j) {
      first.at[j] = values.at[j];
      second.at[j] = values.at[4 + j];
    }
    Four<T>* const fours = reinterpret_cast<Four<T>*>(to);
    fours[0] = first;
    fours[1] = second;
  } else {
    for (int j = 0; j < 8; ++j) to[j] = values.at[j];
  }
}

// Calls use(value), in no particular order, for the values of thread number `thread` of `stride`
// threads, which process eight neighbours at a time.
template <class T, class Use>
__device__ void ForEachValue(const T* values, int64_t count, bool aligned, int64_t thread,
                             int64_t stride, const Use& use) {
  const int64_t eights = count / 8;
  for (int64_t i = thread; i < eights; i += stride) {
    const Eight<T> some = LoadEight(values + 8 * i, aligned);
    for (int j = 0; j < 8; ++j) use(some.at[j]);
  }
  for (int64_t i = 8 * eights + thread; i < count; i += stride) use(values[i]);
}

}  // namespace torus::parallel::cuda
