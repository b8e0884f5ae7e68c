// Where gather's elements lie, as a walk that the kernels of all devices follow.
#pragma once

#include "ops/elementwise/broadcast.h"

namespace torus::ops {

// Where the elements of an index of `shape` start in x, had all its values been 0.
inline Tensor GatherPlaces(const Tensor& x, int dim, const Shape& shape) {
  Tensor places = x;
  for (int d = 0; d < x.rank(); ++d) places = places.Narrow(d, 0, d == dim ? 1 : shape[d]);
  return places.Expand(shape);
}

// Over the index; operands: the place in x with its dimension at 0, and the index.
inline BroadcastPlan PlanGather(const Tensor& x, int dim, const Tensor& index) {
  const Tensor places = GatherPlaces(x, dim, index.shape());
  return PlanBroadcast(index.shape(), {&places, &index});
}

// The same over the columns of an index that is not empty: its elements along `dim` start at the
// operands' places.
inline BroadcastPlan PlanGatherColumns(const Tensor& x, int dim, const Tensor& index) {
  return PlanGather(x, dim, index.Narrow(dim, 0, 1));
}

}  // namespace torus::ops
