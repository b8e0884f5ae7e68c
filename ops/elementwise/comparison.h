// Comparisons and logic, element by element with broadcasting, as in torch. Results are bool; none
// has a gradient.
//
// Comparisons take two tensors of one dtype, any, or a tensor and a number, which is first rounded
// to the tensor's dtype. Throws BadInput tagged with the op for dtypes that differ, shapes that do
// not broadcast, and a number that an integer dtype does not have.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// input == other; false if either is NaN, as are all but Ne.
Variable Eq(const Variable& input, const Variable& other);
Variable Eq(const Variable& input, double other);
Tensor Eq(const Tensor& input, const Tensor& other);

// input != other
Variable Ne(const Variable& input, const Variable& other);
Variable Ne(const Variable& input, double other);

// input < other; of bool, false < true.
Variable Lt(const Variable& input, const Variable& other);
Variable Lt(const Variable& input, double other);

// input <= other
Variable Le(const Variable& input, const Variable& other);
Variable Le(const Variable& input, double other);

// input > other
Variable Gt(const Variable& input, const Variable& other);
Variable Gt(const Variable& input, double other);

// input >= other
Variable Ge(const Variable& input, const Variable& other);
Variable Ge(const Variable& input, double other);

// Of tensors of any dtypes, also two: what is not 0 (NaN too) counts as true.
Variable LogicalAnd(const Variable& input, const Variable& other);
Variable LogicalOr(const Variable& input, const Variable& other);
Variable LogicalXor(const Variable& input, const Variable& other);
Variable LogicalNot(const Variable& input);

// Whether an element is NaN, an infinity of either sign, neither. Integers and bool are finite.
Variable IsNan(const Variable& input);
Variable IsInf(const Variable& input);
Variable IsFinite(const Variable& input);

}  // namespace torus::ops
