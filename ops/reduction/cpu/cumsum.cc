#include <algorithm>

#include "ops/reduction/kernels.h"
#include "ops/sum/running_type.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

constexpr int64_t kTile = 64;  // columns of one task, so that rows are read in whole cache lines

// Columns [column, column + width) of one outer index.
template <class T>
void SumTile(int64_t count, int64_t inner, int64_t width, bool reverse, const T* x, T* y) {
  ops::RunningType<T> total[kTile] = {};
  for (int64_t c = 0; c < count; ++c) {
    const int64_t at = (reverse ? count - 1 - c : c) * inner;
    for (int64_t i = 0; i < width; ++i)
      y[at + i] = static_cast<T>(total[i] += static_cast<ops::RunningType<T>>(x[at + i]));
  }
}

// One task computes a whole column, so the split changes no bits.
template <class T>
void Cumsum(int64_t outer, int64_t count, int64_t inner, bool reverse, const T* x, T* y) {
  const int64_t tiles = (inner + kTile - 1) / kTile, width = std::min(inner, kTile);
  ParallelFor(outer * tiles, (1 << 14) / (count * width + 1) + 1, [=](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t column = task % tiles * kTile, at = task / tiles * count * inner + column;
      SumTile(count, inner, std::min(kTile, inner - column), reverse, x + at, y + at);
    }
  });
}

}  // namespace

void Cumsum(const Tensor& x, bool reverse, Tensor& y) {
  ops::VisitNumbers("cumsum", x.dtype(), [&]<class T>(ComputeType<T>) {
    Cumsum(x.dim(0), x.dim(1), x.dim(2), reverse, x.data<T>(), y.mutable_data<T>());
  });
}

}  // namespace torus::cpu
