// Sums over the middle dimension of (outer, count, inner) on a GPU, as trees whose shape depends
// only on the sizes. There are no atomic additions, so every run gives the same bits. Only for
// kernel sources.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/cuda/elements.h"
#include "runtime/element_cast.h"
//
#include "runtime/cuda/block.h"
#include "runtime/cuda/for_each.h"
#include "runtime/cuda/rows.h"

namespace torus::cuda {

inline constexpr int64_t kColumnRows = 64;  // rows that one thread adds
inline constexpr int64_t kRowPart = 4096;   // row elements that one block adds

// The number of parts into which a sum of `count` terms is divided; at least one.
inline int64_t SumParts(int64_t count, int64_t part) {
  return std::max<int64_t>(1, (count - 1) / part + 1);
}

// Writes part p of column i of outer index o to out[(o * parts + p) * inner + i].
template <class T, class Load>
struct SumColumnPart {
  Load load;
  int64_t count, inner, parts;
  double divisor;
  T* out;
  __device__ void operator()(int64_t i) const {
    const int64_t column = i % inner, part = i / inner % parts, outer = i / inner / parts;
    const int64_t first = part * kColumnRows;
    const int64_t last = first + kColumnRows < count ? first + kColumnRows : count;
    T sum = T(0);
    for (int64_t row = first; row < last; ++row)
      sum += load((outer * count + row) * inner + column, row);
    out[i] = divisor == 1 ? sum : static_cast<T>(sum / divisor);
  }
};

// Writes part p of row o to out[o * parts + p].
template <class T, class Load>
struct SumRowPart {
  Load load;
  int64_t count, parts;
  double divisor;
  T* out;
  template <int kThreads>
  __device__ void Run(int64_t task) const {
    const int64_t outer = task / parts, first = task % parts * kRowPart;
    const int64_t last = first + kRowPart < count ? first + kRowPart : count;
    T sum = T(0);
    for (int64_t at = first + threadIdx.x; at < last; at += kThreads)
      sum += load(outer * count + at, at);
    sum = CombineBlock<kThreads>(sum, Plus());
    if (threadIdx.x == 0) out[task] = divisor == 1 ? sum : static_cast<T>(sum / divisor);
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

// out[o * inner + i] = (sum over c of load((o * count + c) * inner + i, c)) / divisor; `out` is on
// `device`. Terms are added in T: each thread adds 64, or, if inner is 1, 16 before a tree over the
// block. The partial sums are added in the same way, so the error grows with the logarithm of
// count.
template <class T, class Load>
void SumColumns(std::string_view op, int64_t outer, int64_t count, int64_t inner, const Load& load,
                double divisor, T* out, Device device, StreamHandle stream) {
  if (outer * inner == 0) return;
  const int64_t parts = SumParts(count, inner == 1 ? kRowPart : kColumnRows);
  const bool whole = parts == 1;
  Tensor partial;
  if (!whole) partial = Tensor({outer, parts, inner}, kDTypeOf<T>, device);
  T* const to = whole ? out : MutableElements<T>(partial);
  const double by = whole ? divisor : 1;
  if (inner == 1)
    ForEachRow(op, outer * parts, std::min(count, kRowPart), stream,
               SumRowPart<T, Load>{load, count, parts, by, to});
  else
    ForEach(op, outer * parts * inner, stream,
            SumColumnPart<T, Load>{load, count, inner, parts, by, to});
  if (!whole) SumColumns(op, outer, parts, inner, LoadFrom<T>{to}, divisor, out, device, stream);
}

}  // namespace torus::cuda
