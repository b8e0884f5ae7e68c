// Names of the binary operations and comparisons that a device has kernels for.
#pragma once

namespace torus::ops {

enum class BinaryOp {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kTruncDiv,
  kFloorDiv,
  kRemainder,
  kFmod,
  kMaximum,
  kMinimum,
  kPow
};
enum class CompareOp { kEqual, kNotEqual, kLess, kLessEqual };

}  // namespace torus::ops
