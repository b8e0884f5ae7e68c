// An index in ascending order, on a GPU. For the room's kernels.
#pragma once

#include <string_view>

#include "runtime/tensor.h"

namespace torus::cuda {

// values[p] ascends, and order[p] is where it stood: equal values keep their order. Both i64, of as
// many elements as the index.
struct SortedIndex {
  Tensor values, order;
};

SortedIndex SortIndex(std::string_view op, const Tensor& index, StreamHandle stream);

}  // namespace torus::cuda
