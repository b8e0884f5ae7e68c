// Sums over the middle dimension of (outer, count, inner) on a GPU, as trees whose shape depends
// only on the sizes. There are no atomic additions, so every run gives the same bits. Only for
// kernel sources.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "runtime/cuda/elements.h"
#include "runtime/element_cast.h"
//
#include "runtime/cuda/arrivals.h"
#include "runtime/cuda/block.h"
#include "runtime/cuda/divide.h"
#include "runtime/cuda/for_each.h"
#include "runtime/cuda/part_sums.h"
#include "runtime/cuda/rows.h"
#include "runtime/cuda/unroll.h"

namespace torus::cuda {

inline constexpr int64_t kColumnRows = 64;  // rows that one thread adds alone
inline constexpr int64_t kRowPart = 4096;   // row elements that one block adds alone

// The number of parts into which a sum of `count` terms is divided; at least one.
inline int64_t SumParts(int64_t count, int64_t part) {
  return std::max<int64_t>(1, (count - 1) / part + 1);
}

// Stores the sum of each column by a thread.
template <class T, class Load, class Store>
struct SumColumn {
  Load load;
  int64_t count, inner;
  Store store;
  __device__ void operator()(int64_t i) const {
    const Divided at = Divide(i, inner);
    T sum = T(0);
    for (int64_t row = 0; row < count; ++row)
      sum += load((at.quotient * count + row) * inner + at.rest, row);
    store(i, sum);
  }
};

// Stores the sum of each row by a block.
template <class T, class Load, class Store>
struct SumRow {
  Load load;
  int64_t count;
  Store store;
  template <int kThreads>
  __device__ void Run(int64_t row) const {
    T sum = T(0);
    for (int64_t at = threadIdx.x; at < count; at += kThreads) sum += load(row * count + at, at);
    sum = CombineBlock<kThreads>(sum, Plus());
    if (threadIdx.x == 0) store(row, sum);
  }
};

// How blocks share sums of many terms: each takes up to `columns` neighbouring columns and a part
// of their rows.
struct ColumnParts {
  int64_t count, inner, chunks, of_part, parts;

  // As many parts as keep a large GPU busy, where a thread has no fewer than `kLeast` rows.
  static ColumnParts Of(int64_t outer, int64_t count, int64_t inner, int columns, int lanes) {
    constexpr int64_t kBlocks = 528, kLeast = 4;
    const int64_t chunks = (inner - 1) / columns + 1,
                  most = std::max<int64_t>(1, kBlocks / (outer * chunks)),
                  parts = std::clamp<int64_t>(count / (kLeast * lanes), 1, most);
    const int64_t of_part = (count - 1) / parts + 1;
    return {count, inner, chunks, of_part, (count - 1) / of_part + 1};
  }
};

// The type in which many terms of type T are added: a few f32 in f32, and such sums in f64.
template <class T>
using TotalOf = std::conditional_t<std::is_same_v<T, float>, double, T>;

// Stores the sums of each chunk of columns by several blocks, of which the last adds the parts.
template <class T, int columns, class Load, class Store>
struct SumChunk {
  using Total = TotalOf<T>;
  ColumnParts by;
  Load load;
  Store store;
  Total* of_parts;  // (outer, parts, inner)
  uint32_t* arrivals;

  template <int kThreads>
  __device__ void Run(int64_t block) const {
    const Divided at = Divide(block, by.parts), group = Divide(at.quotient, by.chunks);
    const int64_t outer = group.quotient, part = at.rest;
    const int64_t column = group.rest * columns + threadIdx.x % columns;
    const bool inside = column < by.inner;
    Total sum = inside ? SumOfPart<kThreads>(outer, part, column) : Total(0);
    sum = CombineColumns<kThreads, columns>(sum, Plus());
    const bool first = threadIdx.x < columns && inside;
    Total* const parts_of = of_parts + outer * by.parts * by.inner + column;
    if (first) parts_of[part * by.inner] = sum;
    if (!ArrivesLast(arrivals, at.quotient, by.parts)) return;
    sum = AddParts<kThreads, columns>(inside ? by.parts : 0,
                                      [&](int64_t p) { return parts_of[p * by.inner]; });
    if (first) store(outer * by.inner + column, sum);
  }

 private:
  // Of every kThreads / columns-th row of the part.
  template <int kThreads>
  __device__ Total SumOfPart(int64_t outer, int64_t part, int64_t column) const {
    constexpr int kBurst = 4;
    constexpr int64_t kLanes = kThreads / columns;
    const int64_t end = (part + 1) * by.of_part < by.count ? (part + 1) * by.of_part : by.count;
    const int64_t before = outer * by.count;
    Total sum = Total(0);
    for (int64_t first = part * by.of_part + threadIdx.x / columns; first < end;
         first += kLanes * kBurst) {
      T burst[kBurst];
      TORUS_UNROLL
      for (int k = 0; k < kBurst; ++k) {  // without a branch, so that no load waits for another
        const int64_t row = first + k * kLanes < end ? first + k * kLanes : first;
        burst[k] = load((before + row) * by.inner + column, row);
      }
      T some = burst[0];
      TORUS_UNROLL
      for (int k = 1; k < kBurst; ++k)
        if (first + k * kLanes < end) some += burst[k];
      sum += some;
    }
    return sum;
  }
};

template <class T>
struct LoadFrom {
  const T* values;
  __device__ T operator()(int64_t at, int64_t) const { return values[at]; }
};

// Loads values of a narrower type and casts them to T.
template <class T, class In>
struct LoadWide {
  const In* values;
  __device__ T operator()(int64_t at, int64_t) const { return ElementCast<T, In>()(values[at]); }
};

namespace internal {

template <class T, int columns, class Load, class Store>
void SumChunks(std::string_view op, int64_t outer, int64_t count, int64_t inner, const Load& load,
               const Store& store, Device device, StreamHandle stream) {
  constexpr int kThreads = 256;
  const auto by = ColumnParts::Of(outer, count, inner, columns, kThreads / columns);
  Tensor parts({outer, by.parts, inner}, kDTypeOf<TotalOf<T>>, device);
  Tensor arrivals = ArrivalCounters(outer * by.chunks, by.parts, device);
  ForEachBlock<kThreads>(
      op, outer * by.chunks * by.parts, stream,
      SumChunk<T, columns, Load, Store>{by, load, store, MutableElements<TotalOf<T>>(parts),
                                        CountersIn(arrivals)});
}

}  // namespace internal

// Calls store(o * inner + i, the sum over c of load((o * count + c) * inner + i, c)) for each o and
// i, in one launch on `device`. Up to 64 terms are added in T by a thread, or, if inner is 1, up to
// 4096 by a block. Of more terms a thread adds four at a time in T and those sums in TotalOf<T>, in
// which the threads' and the blocks' sums are added, and passed to store.
template <class T, class Load, class Store>
void StoreColumnSums(std::string_view op, int64_t outer, int64_t count, int64_t inner,
                     const Load& load, const Store& store, Device device, StreamHandle stream) {
  if (outer * inner == 0) return;
  const auto by_chunks = [&]<int columns>(std::integral_constant<int, columns>) {
    internal::SumChunks<T, columns>(op, outer, count, inner, load, store, device, stream);
  };
  if (inner == 1 && count <= kRowPart)
    ForEachRow(op, outer, count, stream, SumRow<T, Load, Store>{load, count, store});
  else if (inner > 1 && count <= kColumnRows)
    ForEach(op, outer * inner, stream, SumColumn<T, Load, Store>{load, count, inner, store});
  else if (inner == 1)
    by_chunks(std::integral_constant<int, 1>());
  else if (inner <= 8)
    by_chunks(std::integral_constant<int, 8>());
  else
    by_chunks(std::integral_constant<int, 32>());
}

template <class T>
struct StoreQuotient {
  double divisor;
  T* out;
  template <class Sum>
  __device__ void operator()(int64_t i, Sum sum) const {
    out[i] = divisor == 1 ? static_cast<T>(sum) : static_cast<T>(sum / divisor);
  }
};

// out[o * inner + i] = (sum over c of load((o * count + c) * inner + i, c)) / divisor, likewise.
template <class T, class Load>
void SumColumns(std::string_view op, int64_t outer, int64_t count, int64_t inner, const Load& load,
                double divisor, T* out, Device device, StreamHandle stream) {
  StoreColumnSums<T>(op, outer, count, inner, load, StoreQuotient<T>{divisor, out}, device, stream);
}

}  // namespace torus::cuda
