// Selection by index, as torch.index_select, gather, take_along_dim and
// torch.nn.functional.embedding.
//
// Values are of any dtype, those of a weight floating-point; indices are i64 or i32. Throws
// BadInput for an index outside of [0, size), naming it and its position. If an element is selected
// more than once, its gradients add in the order of the indices, whatever the number of threads;
// those of 16-bit values add in f32 and are rounded once.
#pragma once

#include <optional>

#include "autograd/variable.h"

namespace torus::ops {

// Selects slices index[0], index[1], ... of dimension `dim`; index is 1-D or a scalar. A scalar
// input counts as one element and stays a scalar.
Variable IndexSelect(const Variable& input, int64_t dim, const Variable& index);

// out[i][j][k] = input[index[i][j][k]][j][k] for dim 0, and so on; the result has index's shape.
// Except along `dim`, index must not be larger than the input. An empty index may have any shape
// and dtype.
Variable Gather(const Variable& input, int64_t dim, const Variable& index);

// Gather where the other dimensions broadcast; without `dim`, of both flattened.
Variable TakeAlongDim(const Variable& input, const Variable& indices,
                      std::optional<int64_t> dim = {});

// Looks up rows of weight (count, width) for an input of indices of any shape; returns (...,
// width). Row padding_idx (a negative one counts from the end) gets no gradient. With max_norm, a
// row that is looked up and whose norm_type-norm is larger is first scaled to that norm, in place
// and without a gradient; norm_type is above 0 and may be infinite. With scale_grad_by_freq, each
// row's gradient is divided by how often the input has its index.
Variable Embedding(const Variable& input, const Variable& weight,
                   std::optional<int64_t> padding_idx = {}, std::optional<double> max_norm = {},
                   double norm_type = 2, bool scale_grad_by_freq = false);

}  // namespace torus::ops
