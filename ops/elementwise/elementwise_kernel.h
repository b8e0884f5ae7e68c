// Kernels of the binary element-wise ops. They assume what the public calls have checked.
#pragma once

#include "ops/elementwise/broadcast.h"

namespace torus::ops {
enum class BinaryOp { kAdd, kSub, kMul, kDiv };
}  // namespace torus::ops

namespace torus::cpu {

// out[i] = op(a[i], b[i]) over the walk of `plan` (operands a, b); `out` is contiguous. T is float
// or double.
template <class T>
void Binary(ops::BinaryOp op, const ops::BroadcastPlan& plan, const T* a, const T* b, T* out);

}  // namespace torus::cpu
