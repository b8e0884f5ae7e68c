// The sum of the losses of all rows, and its mean: plain tensors, for the class losses.
#pragma once

#include <string_view>

#include "runtime/tensor.h"

namespace torus::ops {

// (), the sum of `losses`, of any shape, over `divisor` (), which stays a tensor, since it depends
// on values; undefined: 1. `op` tags errors.
Tensor ReduceLosses(std::string_view op, const Tensor& losses, const Tensor& divisor);

// The gradient of each loss, contiguous of shape `losses`, where that of their reduction is
// `dtotal`.
Tensor GradientOfLosses(std::string_view op, const Tensor& dtotal, const Tensor& divisor,
                        const Shape& losses);

}  // namespace torus::ops
