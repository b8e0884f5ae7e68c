// Changes shapes, as the torch functions of these names. The results are views that share memory
// with the input, except for Reshape and Flatten of a non-contiguous input. Any dtype. Throws
// BadInput tagged with the op for shapes and dimensions that do not fit.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// Keeps the row-major order of elements; one size may be -1. A view if the input is contiguous,
// else a copy.
Variable Reshape(const Variable& input, const Shape& shape);

// Merges dimensions start_dim..end_dim into one; a scalar becomes (1).
Variable Flatten(const Variable& input, int64_t start_dim = 0, int64_t end_dim = -1);

// Swaps two dimensions. A view.
Variable Transpose(const Variable& input, int64_t dim0, int64_t dim1);

// Dimension i of the result is dimension dims[i] of the input.
Variable Permute(const Variable& input, const Dims& dims);

// Dimension source[i] becomes dimension destination[i]; the others keep their order.
Variable Movedim(const Variable& input, const Dims& source, const Dims& destination);
Variable Movedim(const Variable& input, int64_t source, int64_t destination);

// Takes [start, start + length) of one dimension; a negative start counts from the end.
Variable Narrow(const Variable& input, int64_t dim, int64_t start, int64_t length);

// Repeats dimensions of size 1 and adds leading ones; -1 keeps a size. Of the size that the input
// has, it is the input itself.
Variable Expand(const Variable& input, const Shape& size);

// Drops dimensions of size 1: all, or those of `dims` that have it.
Variable Squeeze(const Variable& input);
Variable Squeeze(const Variable& input, const Dims& dims);

// Inserts a dimension of size 1 before `dim`, in [-rank - 1, rank].
Variable Unsqueeze(const Variable& input, int64_t dim);

}  // namespace torus::ops
