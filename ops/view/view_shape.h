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

// The order of `rank` dimensions, as Permute takes it, after each dimension source[i] has moved to
// place destination[i]. Throws BadInput for lists of different lengths and for a dimension named
// twice in one of them.
Dims MovedOrder(int rank, const Dims& source, const Dims& destination);

// Shape of parts joined along `dim`: all other sizes equal. Throws BadInput if they differ.
Shape JoinedShape(std::span<const Shape> parts, int dim);

// Sizes of the pieces of at most `split_size` into which `size` is split; one piece of 0 for size
// 0. Throws BadInput if split_size is negative, or 0 with a positive size.
std::vector<int64_t> SplitSizes(int64_t size, int64_t split_size);

// Sizes of at most `chunks` pieces, all of one size but the last, which may be smaller; of size 0,
// as many pieces of 0. Throws BadInput for less than one chunk.
std::vector<int64_t> ChunkSizes(int64_t size, int64_t chunks);

// The strides with which a tensor of shape `from` and strides `strides` is seen as shape `to`, of
// as many elements in the same row-major order; none if no strides do that.
std::optional<Strides> StridesAs(const Shape& from, const Strides& strides, const Shape& to);

}  // namespace torus::ops
