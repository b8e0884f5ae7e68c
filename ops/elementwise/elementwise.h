// Element-wise arithmetic with broadcasting, as torch.add, sub, mul, div and neg.
//
// Tensors are f32 or f64, both of one dtype, of any strides; shapes broadcast as in NumPy, and each
// gradient is summed back to its input's shape. BadInput tagged with the op otherwise. A number is
// rounded to the tensor's dtype first.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// input + alpha * other
Variable Add(const Variable& input, const Variable& other, double alpha = 1);
Variable Add(const Variable& input, double other, double alpha = 1);

// input - alpha * other
Variable Sub(const Variable& input, const Variable& other, double alpha = 1);
Variable Sub(const Variable& input, double other, double alpha = 1);

Variable Mul(const Variable& input, const Variable& other);
Variable Mul(const Variable& input, double other);

// True division; by zero gives inf or NaN as IEEE 754 says.
Variable Div(const Variable& input, const Variable& other);
Variable Div(const Variable& input, double other);

// The quotient rounded towards zero, or down as in Python. No gradient flows: it is zero almost
// everywhere.
enum class DivRounding { kTrunc, kFloor };
Variable Div(const Variable& input, const Variable& other, DivRounding rounding);

// -input
Variable Neg(const Variable& input);

}  // namespace torus::ops
