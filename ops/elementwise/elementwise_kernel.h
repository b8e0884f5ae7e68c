// Kernels of the binary element-wise ops. They assume what the public calls have checked.
#pragma once

#include "ops/elementwise/broadcast.h"

namespace torus::ops {
enum class BinaryOp { kAdd, kSub, kMul, kDiv, kTruncDiv, kFloorDiv, kMaximum, kMinimum, kPow };
enum class CompareOp { kEqual, kLess, kLessEqual };
}  // namespace torus::ops

namespace torus::cpu {

// out[i] = op(a[i], b[i]) over the walk of `plan` (operands a, b); `out` is contiguous. T is float
// or double.
template <class T>
void Binary(ops::BinaryOp op, const ops::BroadcastPlan& plan, const T* a, const T* b, T* out);

// out[i] = whether op(a[i], b[i]) holds; with NaN none does.
template <class T>
void Compare(ops::CompareOp op, const ops::BroadcastPlan& plan, const T* a, const T* b, bool* out);

// out[i] = mask[i] ? a[i] : b[i] over the walk of `plan` (operands mask, a, b).
template <class T>
void Select(const ops::BroadcastPlan& plan, const bool* mask, const T* a, const T* b, T* out);

}  // namespace torus::cpu
