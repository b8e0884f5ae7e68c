// Shape rules of the class losses: pure functions.
#pragma once

#include <string_view>

#include "runtime/shape.h"

namespace torus::ops {

// The dimension of the classes: 1, or 0 for a single sample (C). Throws BadInput tagged `op` for a
// scalar.
int ClassDim(std::string_view op, const Shape& input);

// `input` without its class dimension: the shape of class-number targets.
Shape WithoutClasses(std::string_view op, const Shape& input);

// The order that moves the class dimension to the end, and the one that moves it back.
Dims ClassesLast(int rank);
Dims ClassesSecond(int rank);

}  // namespace torus::ops
