// Shape rule of matmul for operands of at least two dimensions: a pure function.
#pragma once

#include "runtime/shape.h"

namespace torus::ops {

// (batch..., m, k) x (batch..., k, n) gives (batch..., m, n), batches broadcast. Throws BadInput,
// with both shapes, if the inner sizes or the batches do not fit.
Shape MatmulShape(const Shape& a, const Shape& b);

// The batch part of a shape: all but its last two sizes.
Shape BatchOf(const Shape& shape);

}  // namespace torus::ops
