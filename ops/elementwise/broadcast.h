// How kernels walk tensors of different shapes together: NumPy's broadcasting as plain numbers.
#pragma once

#include <initializer_list>

#include "runtime/broadcast.h"
#include "runtime/tensor.h"

namespace torus::ops {

using torus::BroadcastPlan;

// The walk over `shape`, to which every operand must broadcast (BroadcastShapes checked it), in the
// fewest dimensions. Operands may be any strided views.
inline BroadcastPlan PlanBroadcast(const Shape& shape,
                                   std::initializer_list<const Tensor*> operands) {
  BroadcastPlan full{.shape = shape};
  for (const Tensor* operand : operands) {
    TORUS_CHECK(full.operands < BroadcastPlan::kMaxOperands);
    full.strides[full.operands++] = operand->Expand(shape).strides();
  }
  return MergedPlan(full);
}

}  // namespace torus::ops
