// Writes and adds by index, as torch.scatter, scatter_add, index_add and one_hot. The results are
// new tensors.
//
// Any dtype, which inputs share; indices are i64 or i32. Throws BadInput for an index outside of
// [0, size), naming it and its position, and for shapes that do not fit. Values that meet in one
// place come in row-major order of the index, whatever the number of threads and in every run on a
// GPU: they add in it, and the last is kept. Sums of 16-bit values are f32, rounded once; those of
// whole numbers wrap.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// The input, but out[index[i][j][k]][j][k] = src[i][j][k] for dim 0, and so on. The index must not
// be larger than src, nor, except along `dim`, than the input; an empty one may have any shape and
// dtype. The gradient of src is what came to the places that it was written to, as in PyTorch also
// where a later value was kept there: name no place twice if you need it.
Variable Scatter(const Variable& input, int64_t dim, const Variable& index, const Variable& src);
Variable Scatter(const Variable& input, int64_t dim, const Variable& index, double value);

// The same, but src is added to what is there.
Variable ScatterAdd(const Variable& input, int64_t dim, const Variable& index, const Variable& src);

// Adds alpha times slice k of `source` along `dim` to slice index[k] of the input. The index is 1-D
// or a scalar; source has as many slices, and else the input's shape. For whole numbers alpha is
// one too.
Variable IndexAdd(const Variable& input, int64_t dim, const Variable& index, const Variable& source,
                  double alpha = 1);

// i64, shape of the input and num_classes: 1 at each class, else 0. With -1 there are as many
// classes as the largest needs, which waits for a GPU; BadInput for that of an empty tensor and on
// meta.
Tensor OneHot(const Tensor& input, int64_t num_classes = -1);

}  // namespace torus::ops
