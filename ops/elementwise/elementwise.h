// Element-wise arithmetic with broadcasting, as torch.add, sub, mul, div and neg.
//
// Both tensors have one dtype, with any strides. Shapes broadcast as in NumPy, and each gradient is
// summed back to its input's shape. Throws BadInput tagged with the op for other dtypes and shapes.
// A number is first rounded to the tensor's dtype.
//
// Integers are exact and wrap around where their dtype ends, as in PyTorch. bool has only Add (or),
// Mul (and) and true division. A number that the integer dtype does not have is BadInput, and so is
// an integer divided by zero; on a GPU, in a step, that is reported at the step's end
// (runtime/deferred_checks.h), and 1 divides instead.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// input + alpha * other
Variable Add(const Variable& input, const Variable& other, double alpha = 1);
Variable Add(const Variable& input, double other, double alpha = 1);

// input - alpha * other
Variable Sub(const Variable& input, const Variable& other, double alpha = 1);
Variable Sub(const Variable& input, double other, double alpha = 1);

Variable Mul(const Variable& input, const Variable& other);  // input * other
Variable Mul(const Variable& input, double other);

// True division; division by zero gives inf or NaN (IEEE 754). Of integers and bool it is f32: each
// is rounded to f32 before.
Variable Div(const Variable& input, const Variable& other);
Variable Div(const Variable& input, double other);

// The quotient rounded towards zero, or down as in Python. No gradient flows, since it is zero
// almost everywhere.
enum class DivRounding { kTrunc, kFloor };
Variable Div(const Variable& input, const Variable& other, DivRounding rounding);
Variable Div(const Variable& input, double other, DivRounding rounding);

// -input; not of bool.
Variable Neg(const Variable& input);

}  // namespace torus::ops
