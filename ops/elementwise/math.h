// Elementary functions, element by element, as in torch: values outside of the domain give NaN or
// infinity (IEEE 754). Inputs are f32 or f64 with any strides; results are contiguous.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

Variable Exp(const Variable& input);
Variable Log(const Variable& input);
Variable Sqrt(const Variable& input);
Variable Rsqrt(const Variable& input);  // 1 / sqrt(x)
Variable Erf(const Variable& input);    // 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x
Variable Abs(const Variable& input);    // gradient 0 at 0

}  // namespace torus::ops
