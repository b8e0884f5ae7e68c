// An index in ascending order, on a GPU.
#pragma once

#include <string_view>

#include "runtime/tensor.h"

namespace torus::cuda {

// Each row of values is ascending, and order[r][p] is the original place in row r of values[r][p].
// The sort is stable. Both are i64 of the index's shape.
struct SortedIndex {
  Tensor values, order;
};

// Of rows of the last dimension; the index is contiguous, of at least one dimension.
SortedIndex SortIndex(std::string_view op, const Tensor& index, StreamHandle stream);

}  // namespace torus::cuda
