// Shape rules of view and joining ops: pure functions.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "runtime/shape.h"

namespace torus::ops {

// Shape after merging dimensions start..end; (1) for a scalar. Throws BadInput if start is after
// end.
Shape FlattenedShape(const Shape& shape, int64_t start, int64_t end);

// The dimensions among `dims` that have size 1, ascending. Throws BadInput for a dimension named
// twice.
Dims SqueezedDims(const Shape& shape, const Dims& dims);

// Shape of parts joined along `dim`: all other sizes equal. Throws BadInput if they differ.
Shape JoinedShape(std::span<const Shape> parts, int dim);

// Sizes of the pieces of at most `split_size` into which `size` is split; one piece of 0 for size
// 0. Throws BadInput if split_size is negative, or 0 with a positive size.
std::vector<int64_t> SplitSizes(int64_t size, int64_t split_size);

// The strides with which a tensor of shape `from` and strides `strides` is seen as shape `to`, of
// as many elements in the same row-major order; none if no strides do that.
std::optional<Strides> StridesAs(const Shape& from, const Strides& strides, const Shape& to);

}  // namespace torus::ops
