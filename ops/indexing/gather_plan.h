// Plans the iteration of gather, for the kernels of all devices.
#pragma once

#include "ops/elementwise/broadcast.h"

namespace torus::ops {

// A view of x: for each element of an index of `shape`, the element of x it would select if its
// value were 0.
inline Tensor GatherPlaces(const Tensor& x, int dim, const Shape& shape) {
  Tensor places = x;
  for (int d = 0; d < x.rank(); ++d) places = places.Narrow(d, 0, d == dim ? 1 : shape[d]);
  return places.Expand(shape);
}

// Iterates over the index. Operands: the position in x for index value 0, and the index.
inline BroadcastPlan PlanGather(const Tensor& x, int dim, const Tensor& index) {
  const Tensor places = GatherPlaces(x, dim, index.shape());
  return PlanBroadcast(index.shape(), {&places, &index});
}

// The same over the columns along `dim` of a non-empty index; the operands' positions are where a
// column starts.
inline BroadcastPlan PlanGatherColumns(const Tensor& x, int dim, const Tensor& index) {
  return PlanGather(x, dim, index.Narrow(dim, 0, 1));
}

}  // namespace torus::ops
