// The end of sums that blocks began, each with a part of the terms: the parts of each column are
// added in a fixed order, in one launch. Only for kernel sources.
#pragma once

#include <cstdint>

#include "runtime/cuda/block.h"
#include "runtime/cuda/rows.h"

namespace torus::cuda {

// A block takes 32 neighbouring columns of (parts, columns), and each of its warps every eighth
// part.
template <class T, class Store>
struct AddParts {
  int64_t parts, columns;
  const T* in;
  Store store;

  template <int kThreads>
  __device__ void Run(int64_t block) const {
    const int64_t column = block * 32 + threadIdx.x % 32;
    T sum{};
    if (column < columns)
      for (int64_t part = threadIdx.x / 32; part < parts; part += kThreads / 32)
        sum = sum + in[part * columns + column];
    sum = CombineColumns<kThreads, 32>(sum, Plus());
    if (threadIdx.x < 32 && column < columns) store(column, sum);
  }
};

// Calls store(column, the sum over the parts of in, (parts, columns)) for each column.
template <class T, class Store>
void SumOfParts(std::string_view op, int64_t parts, int64_t columns, const T* in,
                const Store& store, StreamHandle stream) {
  ForEachBlock<256>(op, (columns + 31) / 32, stream, AddParts<T, Store>{parts, columns, in, store});
}

}  // namespace torus::cuda
