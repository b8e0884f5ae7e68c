// How kernels walk tensors of different shapes together: NumPy's broadcasting as plain numbers.
#pragma once

#include <array>
#include <initializer_list>

#include "runtime/tensor.h"

namespace torus::ops {

// Visits every index of `shape` in row-major order; operand k lies at sum_d index[d] *
// strides[k][d], in elements, with stride 0 where it is repeated. Operands may be any strided
// views. Adjacent dimensions that all operands (and a contiguous result) cross alike are merged,
// and sizes of 1 dropped, so two tensors of one shape become a single run.
struct BroadcastPlan {
  static constexpr int kMaxOperands = 3;
  Shape shape;
  std::array<Strides, kMaxOperands> strides;
  int operands = 0;
};

// The walk over `shape`, to which every operand must broadcast (BroadcastShapes checked it).
BroadcastPlan PlanBroadcast(const Shape& shape, std::initializer_list<const Tensor*> operands);

}  // namespace torus::ops
