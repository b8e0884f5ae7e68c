// Elementary functions, element by element, as in torch: values outside of the domain give NaN or
// infinity (IEEE 754). Inputs are f32 or f64 with any strides; results are contiguous.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

Variable Exp(const Variable& input);         // e^x
Variable Expm1(const Variable& input);       // exp(x) - 1, exact for small x
Variable Log(const Variable& input);         // the natural logarithm
Variable Log1p(const Variable& input);       // log(1 + x), exact for small x
Variable Sqrt(const Variable& input);        // the square root
Variable Rsqrt(const Variable& input);       // 1 / sqrt(x)
Variable Reciprocal(const Variable& input);  // 1 / x
Variable Sin(const Variable& input);         // of radians
Variable Cos(const Variable& input);         // of radians
Variable Tan(const Variable& input);         // of radians
Variable Erf(const Variable& input);  // 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x

// The rest takes integers too, and gives their dtype. The magnitude of the smallest integer of a
// dtype is that integer itself, and squares wrap around, as in PyTorch.
Variable Abs(const Variable& input);     // gradient 0 at 0; not of bool
Variable Square(const Variable& input);  // x * x

// Step functions: their gradient is 0 everywhere.
Variable Sign(const Variable& input);   // -1, 0 or 1; 0 for NaN
Variable Floor(const Variable& input);  // the largest integer that is not above x
Variable Ceil(const Variable& input);   // the smallest integer that is not below x

// To the nearest multiple of 10 ^ -decimals, halves to the even one. As in PyTorch, x times
// 10 ^ decimals is rounded, not the decimal number x. Throws BadInput for integers and `decimals`
// other than 0.
Variable Round(const Variable& input, int64_t decimals = 0);

}  // namespace torus::ops
