// Shape rules of view and joining ops: pure functions.
#pragma once

#include <span>
#include <vector>

#include "runtime/shape.h"

namespace torus::ops {

// Shape after merging dimensions start..end; (1) for a scalar. BadInput when start is after end.
Shape FlattenedShape(const Shape& shape, int64_t start, int64_t end);

// Those of `dims`, ascending, that have size 1. BadInput for one named twice.
Dims SqueezedDims(const Shape& shape, const Dims& dims);

// Shape of parts joined along `dim`: all other sizes equal. BadInput when they differ.
Shape JoinedShape(std::span<const Shape> parts, int dim);

// Sizes of the pieces of at most `split_size` that `size` falls into; one of 0 for nothing.
// BadInput for a split_size below 0, or 0 where something is to be split.
std::vector<int64_t> SplitSizes(int64_t size, int64_t split_size);

}  // namespace torus::ops
