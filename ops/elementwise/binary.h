// Binary arithmetic, comparison and selection on Tensors, for gradient rules: records no graph,
// allocates one tensor.
#pragma once

#include <string_view>

#include "ops/elementwise/binary_op.h"
#include "runtime/tensor.h"

namespace torus::ops {

// A scalar with the dtype and device of `like`.
Tensor Number(double value, const Tensor& like);

// Computes op(a, b) with broadcasting. Inputs are both f32 or both f64, with any strides; the
// result is contiguous. Throws BadInput tagged `name` for dtypes that differ or shapes that do not
// broadcast.
Tensor ApplyBinary(std::string_view name, BinaryOp op, const Tensor& a, const Tensor& b);

// The same with a number, rounded to a's dtype, as the second operand.
Tensor ApplyBinary(std::string_view name, BinaryOp op, const Tensor& a, double b);

// Compares element by element, with broadcasting; returns bool.
Tensor ApplyCompare(std::string_view name, CompareOp op, const Tensor& a, const Tensor& b);
Tensor ApplyCompare(std::string_view name, CompareOp op, const Tensor& a, double b);

// a where `mask` (bool) holds, else b; all three broadcast.
Tensor ApplySelect(std::string_view name, const Tensor& mask, const Tensor& a, const Tensor& b);
Tensor ApplySelect(std::string_view name, const Tensor& mask, const Tensor& a, double b);

}  // namespace torus::ops
