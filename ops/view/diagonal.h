// Diagonals of matrices, as torch.diagonal, diag_embed and diag. Any dtype. Diagonal 0 is the main
// one, positive ones are above it. Throws BadInput where both dimensions are the same.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// A view of one diagonal of dimensions dim1 and dim2, which are dropped; it becomes the last
// dimension.
Variable Diagonal(const Variable& input, int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1);

// The inverse: zeros but for that diagonal, which is the last dimension of the input; dim1 and dim2
// are those of the result.
Variable DiagEmbed(const Variable& input, int64_t offset = 0, int64_t dim1 = -2, int64_t dim2 = -1);

// The matrix with that diagonal of a vector, or a copy of that diagonal of a matrix.
Variable Diag(const Variable& input, int64_t diagonal = 0);

}  // namespace torus::ops
