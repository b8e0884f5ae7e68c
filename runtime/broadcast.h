// How kernels walk tensors of different strides together, as plain numbers.
#pragma once

#include <array>

#include "runtime/shape.h"

namespace torus {

// Visits every index of `shape` in row-major order; operand k lies at sum_d index[d] *
// strides[k][d], in elements, with stride 0 where it is repeated.
struct BroadcastPlan {
  static constexpr int kMaxOperands = 3;
  Shape shape;
  std::array<Strides, kMaxOperands> strides;
  int operands = 0;
};

// The same walk in the fewest dimensions: adjacent ones that all operands (and a contiguous result)
// cross alike are merged, and sizes of 1 dropped, so two tensors of one shape become a single run.
BroadcastPlan MergedPlan(const BroadcastPlan& full);

}  // namespace torus
