// Shape rules of reductions: pure functions.
#pragma once

#include <string_view>

#include "runtime/shape.h"

namespace torus::ops {

// The dimensions to reduce, non-negative, ascending; an empty list means all of them. Throws
// BadInput tagged `op` for one outside of the rank or named twice. A scalar admits 0 and -1 (and
// reduces nothing).
Dims ReducedDims(std::string_view op, const Dims& dims, int rank);

// `shape` with those dimensions (from ReducedDims) gone, or of size 1 with keepdim.
Shape ReducedShape(const Shape& shape, const Dims& reduced, bool keepdim);

// The number of elements reduced into one: the product of the reduced sizes.
int64_t ReducedCount(const Shape& shape, const Dims& reduced);

// (outer, count, inner): the products of the sizes before, in and after dimensions first..last. All
// are 1 for a scalar.
Shape MiddleShape(const Shape& shape, int first, int last);

}  // namespace torus::ops
