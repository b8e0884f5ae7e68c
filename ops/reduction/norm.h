// Norms of vectors, as torch.linalg.vector_norm and torch.norm. f32 or f64. Dimensions as in
// reduction.h.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// (sum |x|^ord)^(1/ord); the largest magnitude for infinity, the smallest for -infinity, the count
// of elements that are not 0 for 0. Of order 2 over two dimensions it is the Frobenius norm. Throws
// BadInput over no elements for an infinite or a negative order, and for NaN.
//
// Gradients are PyTorch's: 0 where the norm is 0, for infinite orders in equal parts to the
// elements that have it, 0 everywhere for order 0.
Variable VectorNorm(const Variable& input, double ord = 2, const Dims& dims = {},
                    bool keepdim = false);

}  // namespace torus::ops
