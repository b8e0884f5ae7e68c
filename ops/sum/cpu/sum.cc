#include <algorithm>
#include <vector>

#include "ops/sum/kernels.h"
#include "ops/sum/running_type.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

using ops::RunningType;

constexpr int64_t kGroup = 16;          // rows added in T before they go to the total
constexpr int64_t kTile = 64;           // columns of one task, held in registers and first cache
constexpr int64_t kTaskWork = 1 << 15;  // elements of one task

// One task: rows [first, last) of one outer index, columns [column, column + width).
template <class T>
void SumTile(const T* in, int64_t inner, int64_t rows, int64_t width, RunningType<T>* total) {
  std::fill(total, total + width, RunningType<T>(0));
  for (int64_t r = 0; r < rows; r += kGroup) {
    T group[kTile] = {};
    const int64_t end = std::min(rows, r + kGroup);
    for (int64_t k = r; k < end; ++k)
      for (int64_t i = 0; i < width; ++i) group[i] += in[k * inner + i];
    for (int64_t i = 0; i < width; ++i) total[i] += group[i];
  }
}

// Adds the lanes in halves.
template <class T>
T SumLanes(T* lanes, int64_t count) {
  for (int64_t half = count / 2; half > 0; half /= 2)
    for (int64_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  return lanes[0];
}

// A contiguous row: groups of kGroup steps in kLanes independent sums each.
template <class T>
RunningType<T> SumRow(const T* in, int64_t n) {
  constexpr int64_t kLanes = 32;
  RunningType<T> total = 0;
  while (n > 0) {
    T lanes[kLanes] = {};
    const int64_t steps = std::min(kGroup, n / kLanes);
    for (int64_t step = 0; step < steps; ++step, in += kLanes)
      for (int64_t i = 0; i < kLanes; ++i) lanes[i] += in[i];
    n -= steps * kLanes;
    const int64_t rest = steps < kGroup ? n : 0;
    for (int64_t i = 0; i < rest; ++i) lanes[i] += in[i];
    n -= rest;
    total += SumLanes(lanes, kLanes);
  }
  return total;
}

template <class T>
void SumPart(const T* in, int64_t inner, int64_t rows, int64_t width, RunningType<T>* total) {
  if (inner == 1)
    *total = SumRow(in, rows);
  else
    SumTile(in, inner, rows, width, total);
}

template <class T>
T Quotient(RunningType<T> total, double divisor) {
  if constexpr (std::is_integral_v<T>)
    return total;
  else
    return static_cast<T>(total / divisor);
}

// The parts of each result, in order.
template <class T>
void AddParts(int64_t outer, int64_t parts, int64_t inner, const RunningType<T>* partial,
              double divisor, T* out) {
  ParallelFor(outer * inner, kTaskWork / parts + 1, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      RunningType<T> total = 0;
      for (int64_t part = 0; part < parts; ++part)
        total += partial[(at / inner * parts + part) * inner + at % inner];
      out[at] = Quotient<T>(total, divisor);
    }
  });
}

// How the work is divided; a function of the sizes alone.
struct Cut {
  Cut(int64_t count, int64_t inner)
      : width(std::min(inner, kTile)),
        tiles((inner + kTile - 1) / kTile),
        rows(std::min(count, kTaskWork / std::max<int64_t>(1, width))),
        parts(rows == 0 ? 1 : (count + rows - 1) / rows) {}
  int64_t grain() const {
    return std::max<int64_t>(1, kTaskWork / std::max<int64_t>(1, rows * width));
  }
  int64_t width, tiles, rows, parts;
};

// T is uint64_t for i64. float: groups of at most 16 (rows) or 512 (within a row, by 32 lanes) are
// added in float and the groups in double, so the error stays near 20 eps whatever the count.
template <class T>
void SumMiddle(int64_t outer, int64_t count, int64_t inner, const T* in, double divisor, T* out) {
  const Cut cut(count, inner);
  const bool whole = cut.parts == 1;
  std::vector<RunningType<T>> partial(whole ? 0 : outer * cut.parts * inner);
  ParallelFor(outer * cut.parts * cut.tiles, cut.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t column = task % cut.tiles * kTile, block = task / cut.tiles;
      const int64_t first = block % cut.parts * cut.rows;
      const int64_t width = std::min(kTile, inner - column);
      RunningType<T> total[kTile];
      SumPart(in + (block / cut.parts * count + first) * inner + column, inner,
              std::min(count - first, cut.rows), width, total);
      const int64_t at = block * inner + column;
      for (int64_t i = 0; i < width; ++i)
        if (whole)
          out[at + i] = Quotient<T>(total[i], divisor);
        else
          partial[at + i] = total[i];
    }
  });
  if (!whole) AddParts(outer, cut.parts, inner, partial.data(), divisor, out);
}

}  // namespace

void SumMiddle(std::string_view op, const Tensor& x, double divisor, Tensor& y) {
  ops::VisitNumbers(op, x.dtype(), [&]<class T>(ComputeType<T>) {
    using Added = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
    SumMiddle(x.dim(0), x.dim(1), x.dim(2), reinterpret_cast<const Added*>(x.data<T>()), divisor,
              reinterpret_cast<Added*>(y.mutable_data<T>()));
  });
}

}  // namespace torus::cpu
