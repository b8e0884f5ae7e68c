// How kernels iterate over several tensors of different strides, in plain numbers.
#pragma once

#include <array>

#include "runtime/shape.h"

namespace torus {

// Visits every index of `shape` in row-major order. Operand k lies at sum_d index[d] *
// strides[k][d], in elements; its stride is 0 in a dimension where it is repeated.
struct BroadcastPlan {
  static constexpr int kMaxOperands = 3;
  Shape shape;
  std::array<Strides, kMaxOperands> strides;
  int operands = 0;
};

// The same iteration in the fewest dimensions. Drops sizes of 1, and merges adjacent dimensions
// that every operand (and a contiguous result) steps through with one stride. So two contiguous
// tensors of one shape become a single run.
BroadcastPlan MergedPlan(const BroadcastPlan& full);

}  // namespace torus
