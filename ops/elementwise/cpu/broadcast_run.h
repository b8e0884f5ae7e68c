// Iterates over a BroadcastPlan on the CPU, split among the threads of the team.
#pragma once

#include <algorithm>
#include <array>

#include "ops/elementwise/broadcast.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {

// Offsets of the operands, in elements.
template <int N>
using Offsets = std::array<int64_t, N>;

// The offset of outer row `row` in each operand.
template <int N>
Offsets<N> RowOffsets(const ops::BroadcastPlan& plan, int64_t row) {
  Offsets<N> offsets{};
  for (int d = plan.shape.rank() - 2; d >= 0; --d) {
    const int64_t index = row % plan.shape[d];
    row /= plan.shape[d];
    for (int k = 0; k < N; ++k) offsets[k] += index * plan.strides[k][d];
  }
  return offsets;
}

// Calls run(out, offsets, count, steps) for runs that cover the plan. `out` is the offset in the
// contiguous result; `steps` is each operand's step per element. Each result element belongs to one
// call, so the split changes no bits.
template <int N, class Run>
void ForEachRun(const ops::BroadcastPlan& plan, int64_t grain, const Run& run) {
  const int64_t total = Numel(plan.shape);
  if (total == 0) return;
  const int last = plan.shape.rank() - 1;
  const int64_t count = last < 0 ? 1 : plan.shape[last];
  Offsets<N> steps{};
  for (int k = 0; k < N && last >= 0; ++k) steps[k] = plan.strides[k][last];
  ParallelFor(total, grain, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t row = begin / count, column = begin % count;
      const int64_t length = std::min(count - column, end - begin);
      Offsets<N> offsets = RowOffsets<N>(plan, row);
      for (int k = 0; k < N; ++k) offsets[k] += column * steps[k];
      run(begin, offsets, length, steps);
      begin += length;
    }
  });
}

}  // namespace torus::cpu
