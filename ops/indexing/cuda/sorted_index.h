// An index in ascending order, on a GPU. Internal to this op family.
#pragma once

#include <string_view>

#include "runtime/tensor.h"

namespace torus::cuda {

// values is ascending, and order[p] is the original position of values[p]. The sort is stable. Both
// are i64 with as many elements as the index.
struct SortedIndex {
  Tensor values, order;
};

SortedIndex SortIndex(std::string_view op, const Tensor& index, StreamHandle stream);

}  // namespace torus::cuda
