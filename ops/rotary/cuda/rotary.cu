#include <cstdint>

#include "ops/rotary/kernels.h"
#include "runtime/cuda/divide.h"
#include "runtime/cuda/elements.h"
//
#include "ops/cuda/floats.h"
#include "runtime/cuda/for_each.h"
#include "runtime/cuda/pack_floats.h"
#include "runtime/cuda/row_packs.h"

namespace torus::cuda {
namespace {

template <class T>
struct TableElement {
  ops::RotaryFrequencies frequencies;
  int64_t first, width;
  T* table;
  __device__ void operator()(int64_t i) const {
    const Divided place = Divide(i, width);
    table[i] = ops::RotaryTableAt<T>(frequencies, first + place.quotient, place.rest, width);
  }
};

// n numbers of the table; `from` is aligned to packs.
template <int n, class Sum>
__device__ Wide<Sum, n> ReadRow(const Sum* from) {
  constexpr int kStep = n < kPackOf<Sum> ? n : kPackOf<Sum>;
  Wide<Sum, n> row;
  TORUS_UNROLL
  for (int k = 0; k < n; k += kStep) {
    const Wide<Sum, kStep> part = ReadWide<kStep>(from + k);
    TORUS_UNROLL
    for (int j = 0; j < kStep; ++j) row.at[k + j] = part.at[j];
  }
  return row;
}

// n pairs of neighbouring elements; `half` is counted in packs of n.
template <class T, int n>
struct TurnedPairs {
  int64_t tokens, heads, half;
  SumOf<T> sign;  // -1 to turn back
  const T* x;
  const SumOf<T>* table;
  T* y;
  __device__ void operator()(int64_t i) const {
    const Divided head = Divide(i, half);
    const int64_t token = Divide(Divide(head.quotient, heads).quotient, tokens).rest;
    const SumOf<T>* const row = table + (token * 2 * half + head.rest) * n;
    const int64_t first = (head.quotient * 2 * half + head.rest) * n, second = first + half * n;
    const Wide<SumOf<T>, n> a = ReadWide<n>(x + first), b = ReadWide<n>(x + second);
    const Wide<SumOf<T>, n> cosines = ReadRow<n>(row), sines = ReadRow<n>(row + half * n);
    Wide<SumOf<T>, n> turned_a, turned_b;
    TORUS_UNROLL
    for (int k = 0; k < n; ++k) {
      const SumOf<T> sine = sign * sines.at[k];
      turned_a.at[k] = a.at[k] * cosines.at[k] - b.at[k] * sine;
      turned_b.at[k] = b.at[k] * cosines.at[k] + a.at[k] * sine;
    }
    WriteRounded<T>(turned_a, y + first);
    WriteRounded<T>(turned_b, y + second);
  }
};

template <class T, int n>
void Turn(const Tensor& x, const Tensor& table, bool back, Tensor& y) {
  ForEach(
      "rotary_embedding", y.numel() / (2 * n), CurrentStream(y.device()),
      TurnedPairs<T, n>{table.dim(0), x.dim(-2), table.dim(1) / (2 * n), SumOf<T>(back ? -1 : 1),
                        Elements<T>(x), Elements<SumOf<T>>(table), MutableElements<T>(y)});
}

}  // namespace

void RotaryTable(const ops::RotaryFrequencies& frequencies, int64_t first, Tensor& table) {
  const StreamHandle stream = CurrentStream(table.device());
  VisitCompute("rotary_embedding", table.dtype(), [&]<class T>(ComputeType<T>) {
    ForEach("rotary_embedding", table.numel(), stream,
            TableElement<T>{frequencies, first, table.dim(1), MutableElements<T>(table)});
  });
}

// Pairs that do not start at packs go one at a time.
void Rotate(const Tensor& x, const Tensor& table, bool back, Tensor& y) {
  VisitFloats("rotary_embedding", x.dtype(), [&]<class T>(ComputeType<T>) {
    const bool packs = RowsByPacks<T>(table.dim(1) / 2, {x.raw(), table.raw(), y.raw()});
    const auto turn = packs ? Turn<T, kPackOf<T>> : Turn<T, 1>;
    turn(x, table, back, y);
  });
}

}  // namespace torus::cuda
