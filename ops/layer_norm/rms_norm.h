// RMS norm (Zhang and Sennrich 2019, equation 4), as torch.nn.functional.rms_norm: one kernel
// forward, one backward.
#pragma once

#include <optional>

#include "autograd/variable.h"

namespace torus::ops {

// input / sqrt(mean(input^2) + eps) * weight, with the mean over the last dimensions, which must
// equal normalized_shape. weight has that shape, or is undefined (ones). Without eps it is the
// machine epsilon of the dtype in which is summed: f64's, else f32's. f32 or f64, all of one dtype,
// any strides; the result is contiguous. If the mean + eps is negative the result is NaN, as in
// PyTorch. The backward keeps input and 1 / sqrt(mean + eps) of each row. Throws BadInput for an
// empty normalized_shape, and for shapes or dtypes that do not fit.
Variable RmsNorm(const Variable& input, const Shape& normalized_shape, const Variable& weight = {},
                 std::optional<double> eps = {});

}  // namespace torus::ops
