// Matrix products, as torch.matmul and bmm.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// Multiplies matrices in the last two dimensions; the other dimensions broadcast as batches. A
// vector is a row on the left and a column on the right, and its dimension is dropped from the
// result; two vectors give their dot product. f32 or f64, both of one dtype, any strides. Throws
// BadInput for scalars and for sizes that do not fit.
Variable Matmul(const Variable& input, const Variable& other);

// The same for (b, m, k) x (b, k, n), without broadcasting.
Variable Bmm(const Variable& input, const Variable& mat2);

}  // namespace torus::ops
