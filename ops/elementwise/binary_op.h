// Names of the binary operations and comparisons that a device has kernels for.
#pragma once

namespace torus::ops {

enum class BinaryOp { kAdd, kSub, kMul, kDiv, kTruncDiv, kFloorDiv, kMaximum, kMinimum, kPow };
enum class CompareOp { kEqual, kLess, kLessEqual };

}  // namespace torus::ops
