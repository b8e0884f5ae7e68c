// Layer norm (Ba, Kiros and Hinton 2016), as torch.nn.functional.layer_norm: one kernel forward,
// one backward.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// (x - mean) / sqrt(var + eps) * weight + bias, with mean and biased variance over the last
// dimensions, which must equal normalized_shape. weight and bias have that shape, or are undefined
// (ones and zeros). f32 or f64, all of one dtype, any strides; the result is contiguous. If var +
// eps is negative the result is NaN, as in PyTorch. The backward keeps input, mean and 1 / sqrt(var
// + eps) of each row. Throws BadInput for an empty normalized_shape, and for shapes or dtypes that
// do not fit.
Variable LayerNorm(const Variable& input, const Shape& normalized_shape,
                   const Variable& weight = {}, const Variable& bias = {}, double eps = 1e-5);

}  // namespace torus::ops
