// Sum and mean of the losses of all rows, on Tensors, for the class losses.
#pragma once

#include <string_view>

#include "runtime/tensor.h"

namespace torus::ops {

// Returns (), the sum of `losses`, of any shape, divided by `divisor` (), or by 1 if undefined. The
// divisor is a tensor because it depends on values on the device. `op` tags errors.
Tensor ReduceLosses(std::string_view op, const Tensor& losses, const Tensor& divisor);

// The gradient of each loss, contiguous with shape `losses`, given the gradient `dtotal` of the
// reduced loss.
Tensor GradientOfLosses(std::string_view op, const Tensor& dtotal, const Tensor& divisor,
                        const Shape& losses);

}  // namespace torus::ops
