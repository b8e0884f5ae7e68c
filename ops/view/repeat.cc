#include "ops/view/repeat.h"

#include <algorithm>

#include "autograd/undefined_input.h"
#include "ops/sum/reduction_shape.h"
#include "ops/view/view.h"
#include "runtime/error.h"

namespace torus::ops {
namespace {

Shape WithSize(Shape shape, int dim, int64_t size) {
  shape[dim] = size;
  return shape;
}

Variable RepeatDim(const Variable& input, int dim, int64_t repeats) {
  if (repeats == 1) return input;
  const Shape cut = MiddleShape(input.shape(), dim, dim);
  const int64_t block = cut[1] * cut[2];
  const Variable once = Reshape(input, {cut[0], 1, block});
  return Reshape(Expand(once, {cut[0], repeats, block}),
                 WithSize(input.shape(), dim, cut[1] * repeats));
}

}  // namespace

// The last dimension first, while the tensor is small.
Variable Repeat(const Variable& input, const Dims& repeats) {
  RequireDefined("repeat", input);
  const int added = repeats.rank() - input.rank();
  Require(added >= 0, "repeat", "{} repeats for shape {}", repeats.rank(), input.shape());
  for (int64_t count : repeats) Require(count >= 0, "repeat", "{} has negative repeats", repeats);
  Shape shape = Dims::Filled(added, 1);
  for (int64_t size : input.shape()) shape.push_back(size);
  Variable out = Reshape(input, shape);
  for (int d = repeats.rank() - 1; d >= 0; --d) out = RepeatDim(out, d, repeats[d]);
  return out;
}

Variable Tile(const Variable& input, const Dims& dims) {
  RequireDefined("tile", input);
  Dims repeats = Dims::Filled(std::max(0, input.rank() - dims.rank()), 1);
  for (int64_t count : dims) repeats.push_back(count);
  return Repeat(input, repeats);
}

Variable RepeatInterleave(const Variable& input, int64_t repeats, std::optional<int64_t> dim) {
  RequireDefined("repeat_interleave", input);
  Require(repeats >= 0, "repeat_interleave", "needs repeats of at least 0, got {}", repeats);
  if (!dim || input.rank() == 0) {
    if (dim) NormalizeDim("repeat_interleave", *dim, 0);
    return RepeatInterleave(Reshape(input, {input.numel()}), repeats, 0);
  }
  const int d = NormalizeDim("repeat_interleave", *dim, input.rank());
  const Shape cut = MiddleShape(input.shape(), d, d);
  const Variable once = Reshape(input, {cut[0], cut[1], 1, cut[2]});
  return Reshape(Expand(once, {cut[0], cut[1], repeats, cut[2]}),
                 WithSize(input.shape(), d, cut[1] * repeats));
}

}  // namespace torus::ops
