// Several neighbouring elements that a thread loads or stores at once: GPUs move up to 16 bytes a
// thread with one instruction. Only for kernel sources.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/cuda/kernel.h"

namespace torus::cuda {

template <class T, int n>
struct alignas(sizeof(T) * n) Pack {
  static_assert(sizeof(T) * n <= 16);
  T at[n];
};

// How many elements of each of these types 16 bytes hold.
template <class... T>
inline constexpr int kPackOf = static_cast<int>(16 / std::max({sizeof(T)...}));

// The first `count` of n elements, the others zero. `from` is aligned to a pack.
template <int n, class T>
__device__ Pack<T, n> LoadPack(const T* from, int count) {
  if (count == n) return *reinterpret_cast<const Pack<T, n>*>(from);
  Pack<T, n> pack{};
  for (int k = 0; k < n; ++k)  // with known indices, so that the pack stays in registers
    if (k < count) pack.at[k] = from[k];
  return pack;
}

// Writes the first `count` of n elements. `to` is aligned to a pack.
template <int n, class T>
__device__ void StorePack(const Pack<T, n>& pack, T* to, int count) {
  if (count == n) {
    *reinterpret_cast<Pack<T, n>*>(to) = pack;
    return;
  }
  for (int k = 0; k < n; ++k)
    if (k < count) to[k] = pack.at[k];
}

// Calls f(first, count) for the packs of a row of n elements that this one of kThreads threads
// takes. Element i belongs to thread i / pack % kThreads.
template <int kThreads, int pack, class F>
__device__ void ForEachPack(int64_t n, const F& f) {
  for (int64_t first = int64_t{threadIdx.x} * pack; first < n; first += int64_t{kThreads} * pack)
    f(first, n - first < pack ? static_cast<int>(n - first) : pack);
}

}  // namespace torus::cuda
