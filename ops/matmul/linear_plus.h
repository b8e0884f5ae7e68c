// A linear layer and the residual that its result is added to.
#pragma once

#include "ops/matmul/affine.h"

namespace torus::ops {

// Add(Linear(input, weight, bias), residual), or of LinearInOut by `layout`. A GPU that computes in
// 16 bits does it in the product, which then rounds once: to the residual's dtype, f32 or 16 bits,
// which must have the product's shape for that. Throws BadInput as the two ops do.
Variable LinearPlus(const Variable& input, const Variable& weight, const Variable& bias,
                    const Variable& residual, WeightLayout layout);

// Whether a product of `input` in 16 bits may be added to the residual, of its shape, as above.
bool AddsInProduct(const Variable& input, const Shape& shape, const Variable& residual);

// The bias in the dtype that such a product takes; undefined if there is none.
Tensor BiasFor(const Variable& residual, const Variable& bias);

}  // namespace torus::ops
