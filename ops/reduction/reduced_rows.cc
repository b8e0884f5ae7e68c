#include "ops/reduction/reduced_rows.h"

#include <algorithm>

#include "ops/sum/reduction_shape.h"

namespace torus::ops {

Tensor ReducedRows(const Tensor& input, const Dims& reduced) {
  Dims order;
  for (int d = 0; d < input.rank(); ++d)
    if (std::find(reduced.begin(), reduced.end(), d) == reduced.end()) order.push_back(d);
  for (int64_t d : reduced) order.push_back(d);
  const int64_t outer = Numel(ReducedShape(input.shape(), reduced, true));
  return input.Permute(order).Contiguous().View({outer, ReducedCount(input.shape(), reduced)});
}

}  // namespace torus::ops
