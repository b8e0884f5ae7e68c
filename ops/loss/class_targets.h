// What the class losses ask of their targets.
#pragma once

#include <string_view>

#include "runtime/tensor.h"

namespace torus::ops {

// `target` as contiguous i64. BadInput tagged `op` unless it is of an integer dtype, has the shape
// that `input` has without its classes, and every value is a class or `ignore_index`; a wrong one
// is named with its position.
Tensor ClassNumbers(std::string_view op, const Shape& input, const Tensor& target,
                    int64_t ignore_index);

}  // namespace torus::ops
