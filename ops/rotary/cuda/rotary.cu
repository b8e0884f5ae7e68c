#include "ops/rotary/kernels.h"
#include "runtime/cuda/divide.h"
#include "runtime/cuda/elements.h"
//
#include "ops/cuda/floats.h"
#include "runtime/cuda/for_each.h"

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

// A pair of elements.
template <class T>
struct TurnedPair {
  int64_t tokens, heads, half;
  SumOf<T> sign;  // -1 to turn back
  const T* x;
  const SumOf<T>* table;
  T* y;
  __device__ void operator()(int64_t i) const {
    const Divided head = Divide(i, half);
    const int64_t token = Divide(Divide(head.quotient, heads).quotient, tokens).rest;
    const SumOf<T>* const row = table + token * 2 * half + head.rest;
    const int64_t first = head.quotient * 2 * half + head.rest, second = first + half;
    const SumOf<T> a = Widened(x[first]), b = Widened(x[second]);
    const SumOf<T> cosine = row[0], sine = sign * row[half];
    y[first] = RoundedTo<T>(a * cosine - b * sine);
    y[second] = RoundedTo<T>(b * cosine + a * sine);
  }
};

}  // namespace

void RotaryTable(const ops::RotaryFrequencies& frequencies, int64_t first, Tensor& table) {
  const StreamHandle stream = CurrentStream(table.device());
  VisitCompute("rotary_embedding", table.dtype(), [&]<class T>(ComputeType<T>) {
    ForEach("rotary_embedding", table.numel(), stream,
            TableElement<T>{frequencies, first, table.dim(1), MutableElements<T>(table)});
  });
}

void Rotate(const Tensor& x, const Tensor& table, bool back, Tensor& y) {
  const StreamHandle stream = CurrentStream(y.device());
  VisitFloats("rotary_embedding", x.dtype(), [&]<class T>(ComputeType<T>) {
    const SumOf<T> sign = back ? -1 : 1;
    ForEach("rotary_embedding", y.numel() / 2, stream,
            TurnedPair<T>{table.dim(0), x.dim(-2), table.dim(1) / 2, sign, Elements<T>(x),
                          Elements<SumOf<T>>(table), MutableElements<T>(y)});
  });
}

}  // namespace torus::cuda
