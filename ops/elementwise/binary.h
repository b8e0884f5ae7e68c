// Binary arithmetic, comparison and selection on Tensors, for gradient rules: records no graph,
// allocates one tensor.
#pragma once

#include <string_view>

#include "ops/elementwise/binary_op.h"
#include "runtime/tensor.h"

namespace torus::ops {

// A scalar with the dtype and device of `like`.
Tensor Number(double value, const Tensor& like);

// The same for a number that a user gave. Throws BadInput tagged `name` if `like` is no
// floating-point tensor and its dtype does not have the number; i64 has those up to 2^53 here,
// which a double has too.
Tensor NumberFor(std::string_view name, double value, const Tensor& like);

// Computes op(a, b) with broadcasting. Inputs have one dtype and any strides; the result is
// contiguous. Throws BadInput tagged `name` for dtypes that differ or shapes that do not broadcast.
//
// f32 and f64, and integers: computed in i64 and then modulo the range of their dtype, never
// through a float. Division of integers throws BadInput for a zero (on a GPU see CheckDivisor in
// kernels.h); kDiv and kPow take none, and bool has only kAdd (or), kMul (and), kMaximum and
// kMinimum.
Tensor ApplyBinary(std::string_view name, BinaryOp op, const Tensor& a, const Tensor& b);

// The same with NumberFor(b) as the second operand.
Tensor ApplyBinary(std::string_view name, BinaryOp op, const Tensor& a, double b);

// Compares element by element, with broadcasting; returns bool. Takes every dtype.
Tensor ApplyCompare(std::string_view name, CompareOp op, const Tensor& a, const Tensor& b);
Tensor ApplyCompare(std::string_view name, CompareOp op, const Tensor& a, double b);

// a where `mask` (bool) holds, else b; all three broadcast. Takes every dtype.
Tensor ApplySelect(std::string_view name, const Tensor& mask, const Tensor& a, const Tensor& b);
Tensor ApplySelect(std::string_view name, const Tensor& mask, const Tensor& a, double b);

}  // namespace torus::ops
