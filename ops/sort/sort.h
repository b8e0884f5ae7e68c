// Sorting along a dimension, as torch.sort, argsort and topk.
//
// Any dtype. NaN counts as larger than any number, and -0 as equal to 0. Equal elements keep their
// order, also with `descending`, whatever `stable` and `sorted` say; so the results are the same on
// every device and in every run. The gradient goes to where the values came from.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// The input in order along a dimension.
struct SortResult {
  Variable values;  // of the input's shape
  Tensor indices;   // i64: where each value stood along the dimension
};

// The values and indices of each row along `dim`, as torch.sort.
SortResult Sort(const Variable& input, int64_t dim = -1, bool descending = false,
                bool stable = false);

// Sort's indices.
Tensor Argsort(const Tensor& input, int64_t dim = -1, bool descending = false, bool stable = false);

// The first k of the order: descending if the largest are wanted. Throws BadInput unless k is in
// [0, size].
SortResult TopK(const Variable& input, int64_t k, int64_t dim = -1, bool largest = true,
                bool sorted = true);

}  // namespace torus::ops
