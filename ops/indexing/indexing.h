// Picking by index, as torch.index_select, gather and torch.nn.functional.embedding.
//
// Values are f32 or f64; indices i64 or i32 in [0, size), else BadInput that names value and
// position. Gradients of a place that is picked more than once add in the order of the indices,
// whatever the number of threads.
#pragma once

#include <optional>

#include "autograd/variable.h"

namespace torus::ops {

// Slices index[0], index[1], ... of dimension `dim`; index is 1-D or a scalar. A scalar input
// counts as one element and stays a scalar.
Variable IndexSelect(const Variable& input, int64_t dim, const Variable& index);

// out[i][j][k] = input[index[i][j][k]][j][k] for dim 0, and so on; the result has index's shape,
// which beside `dim` must not be larger than the input's. An empty index may have any shape and
// dtype.
Variable Gather(const Variable& input, int64_t dim, const Variable& index);

// Rows of weight (count, width) for an index of any shape: (..., width). Row padding_idx (which may
// be negative, from the end) gets no gradient.
Variable Embedding(const Variable& input, const Variable& weight,
                   std::optional<int64_t> padding_idx = {});

}  // namespace torus::ops
