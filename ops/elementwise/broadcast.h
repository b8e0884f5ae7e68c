// Plans how kernels iterate over tensors of different shapes, by NumPy's broadcasting.
#pragma once

#include <initializer_list>

#include "runtime/broadcast.h"
#include "runtime/tensor.h"

namespace torus::ops {

using torus::BroadcastPlan;

// Plans an iteration over `shape` in the fewest dimensions. Every operand must broadcast to `shape`
// (checked by BroadcastShapes). Operands may have any strides.
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
