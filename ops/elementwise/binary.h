// Binary arithmetic, comparison and selection on plain tensors, for gradient rules: no graph, one
// new tensor.
#pragma once

#include <string_view>

#include "ops/elementwise/binary_op.h"
#include "runtime/tensor.h"

namespace torus::ops {

// A scalar of like's dtype, on its device.
Tensor Number(double value, const Tensor& like);

// op(a, b) with broadcasting, f32 or f64 alike, any strides in, contiguous out. BadInput tagged
// `name` for dtypes that differ or shapes that do not broadcast.
Tensor ApplyBinary(std::string_view name, BinaryOp op, const Tensor& a, const Tensor& b);

// The same with a number, rounded to a's dtype, as second operand.
Tensor ApplyBinary(std::string_view name, BinaryOp op, const Tensor& a, double b);

// Whether op holds, element by element: bool, with broadcasting.
Tensor ApplyCompare(std::string_view name, CompareOp op, const Tensor& a, const Tensor& b);
Tensor ApplyCompare(std::string_view name, CompareOp op, const Tensor& a, double b);

// a where `mask` (bool) holds, else b; all three broadcast.
Tensor ApplySelect(std::string_view name, const Tensor& mask, const Tensor& a, const Tensor& b);
Tensor ApplySelect(std::string_view name, const Tensor& mask, const Tensor& a, double b);

}  // namespace torus::ops
