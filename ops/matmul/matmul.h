// Matrix products, as torch.matmul and bmm.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// The product of the last two dimensions, the others broadcast as batches. A vector on the left is
// a row, on the right a column, and its dimension is dropped from the result; two vectors give
// their scalar product. f32 or f64, both of one dtype, any strides. BadInput for scalars and for
// sizes that do not fit.
Variable Matmul(const Variable& input, const Variable& other);

// The same for (b, m, k) x (b, k, n), without broadcasting.
Variable Bmm(const Variable& input, const Variable& mat2);

}  // namespace torus::ops
