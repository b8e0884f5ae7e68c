// The end of sums that blocks began, each with a part of the terms: the parts of each column are
// added in a fixed order, by the last block (arrivals.h) or in a launch. Only for kernel sources.
#pragma once

#include <cstdint>

#include "runtime/cuda/block.h"
#include "runtime/cuda/pack_floats.h"
#include "runtime/cuda/rows.h"
#include "runtime/cuda/unroll.h"

namespace torus::cuda {

// Adds the parts of each of `columns` columns (a power of two up to 32): those of a thread's column
// t % columns that are its own, by add(part, load(part), sum), in ascending order; then the
// threads' sums. The first `columns` threads get the results. A thread whose column is none has no
// parts. kBurst parts are loaded before the first is added. All threads of a block of kThreads must
// call it.
template <int kThreads, int columns, int kBurst, class Sum, class Load, class Add>
__device__ Sum AddParts(int64_t parts, const Load& load, const Add& add) {
  constexpr int64_t kLanes = kThreads / columns;
  Sum sum{};
  for (int64_t first = threadIdx.x / columns; first < parts; first += kLanes * kBurst) {
    decltype(load(first)) burst[kBurst];
    TORUS_UNROLL
    for (int k = 0; k < kBurst; ++k) {  // without a branch, so that no load waits for another
      const int64_t part = first + k * kLanes;
      burst[k] = load(part < parts ? part : first);
    }
    TORUS_UNROLL
    for (int k = 0; k < kBurst; ++k)
      if (first + k * kLanes < parts) add(first + k * kLanes, burst[k], sum);
  }
  return CombineColumns<kThreads, columns>(sum, Plus());
}

// The same where parts are sums themselves.
template <int kThreads, int columns, class Load>
__device__ auto AddParts(int64_t parts, const Load& load) {
  using Sum = decltype(load(parts));
  return AddParts<kThreads, columns, 8, Sum>(
      parts, load, [](int64_t, const Sum& of_part, Sum& sum) { sum = sum + of_part; });
}

// Calls store(first, sum) for packs of neighbouring columns of (parts, columns): each thread of a
// block of kThreads adds all parts of its own, in ascending order. The columns are a multiple of
// the pack, and `in` is aligned to it.
template <int kThreads, int pack, class T, class Store>
__device__ void AddWholeParts(int64_t parts, int columns, const T* in, const Store& store) {
  constexpr int kBurst = 16;
  for (int first = static_cast<int>(threadIdx.x) * pack; first < columns;
       first += kThreads * pack) {
    Wide<T, pack> sum{};
    for (int64_t part = 0; part < parts; part += kBurst) {
      Wide<T, pack> burst[kBurst];
      TORUS_UNROLL
      for (int k = 0; k < kBurst; ++k)
        burst[k] = ReadWide<pack>(in + (part + k < parts ? part + k : part) * columns + first);
      TORUS_UNROLL
      for (int k = 0; k < kBurst; ++k)
        if (part + k < parts) sum = sum + burst[k];
    }
    store(first, sum);
  }
}

// A block takes 32 neighbouring columns of (parts, columns).
template <class T, class Store>
struct AddAllParts {
  int64_t parts, columns;
  const T* in;
  Store store;

  template <int kThreads>
  __device__ void Run(int64_t block) const {
    const int64_t column = block * 32 + threadIdx.x % 32;
    const T sum = AddParts<kThreads, 32>(column < columns ? parts : 0,
                                         [&](int64_t part) { return in[part * columns + column]; });
    if (threadIdx.x < 32 && column < columns) store(column, sum);
  }
};

// Calls store(column, the sum over the parts of in, (parts, columns)) for each column.
template <class T, class Store>
void SumOfParts(std::string_view op, int64_t parts, int64_t columns, const T* in,
                const Store& store, StreamHandle stream) {
  ForEachBlock<256>(op, (columns + 31) / 32, stream,
                    AddAllParts<T, Store>{parts, columns, in, store});
}

}  // namespace torus::cuda
