#include "ops/view/view_shape.h"

#include <algorithm>

#include "runtime/error.h"

namespace torus::ops {

Shape FlattenedShape(const Shape& shape, int64_t start, int64_t end) {
  const int first = NormalizeDim("flatten", start, shape.rank());
  const int last = NormalizeDim("flatten", end, shape.rank());
  Require(first <= last, "flatten", "start_dim {} is after end_dim {} of shape {}", start, end,
          shape);
  if (shape.rank() == 0) return {1};
  Shape out;
  for (int d = 0; d < shape.rank(); ++d) {
    if (d > first && d <= last)
      out[first] *= shape[d];
    else
      out.push_back(shape[d]);
  }
  return out;
}

Dims SqueezedDims(const Shape& shape, const Dims& dims) {
  Dims named = Dims::Filled(std::max(1, shape.rank()), 0);
  for (int64_t dim : dims) {
    const int d = NormalizeDim("squeeze", dim, shape.rank());
    Require(named[d] == 0, "squeeze", "dimension {} is named twice", d);
    named[d] = 1;
  }
  Dims gone;
  for (int d = 0; d < shape.rank(); ++d)
    if (named[d] == 1 && shape[d] == 1) gone.push_back(d);
  return gone;
}

Dims MovedOrder(int rank, const Dims& source, const Dims& destination) {
  Require(source.rank() == destination.rank(), "movedim", "{} dimensions do not move to {} places",
          source.rank(), destination.rank());
  Dims order = Dims::Filled(rank, -1), moved = Dims::Filled(rank, 0);
  for (int i = 0; i < source.rank(); ++i) {
    const int from = NormalizeDim("movedim", source[i], rank);
    const int to = NormalizeDim("movedim", destination[i], rank);
    if (rank == 0) continue;
    Require(moved[from] == 0 && order[to] == -1, "movedim", "{} to {} names a dimension twice",
            source, destination);
    moved[from] = 1;
    order[to] = from;
  }
  int next = 0;
  for (int to = 0; to < rank; ++to) {
    if (order[to] != -1) continue;
    while (moved[next] != 0) ++next;
    order[to] = next++;
  }
  return order;
}

Shape JoinedShape(std::span<const Shape> parts, int dim) {
  Shape out = parts[0];
  for (const Shape& part : parts.subspan(1)) {
    Shape expected = out;
    if (part.rank() == out.rank()) expected[dim] = part[dim];
    Require(part == expected, "cat", "sizes differ beside dimension {}: {} and {}", dim, parts[0],
            part);
    out[dim] += part[dim];
  }
  return out;
}

std::vector<int64_t> SplitSizes(int64_t size, int64_t split_size) {
  Require(split_size > 0 || (split_size == 0 && size == 0), "split",
          "a split_size above 0 is needed for {} elements, got {}", size, split_size);
  if (size == 0) return {0};
  std::vector<int64_t> sizes;
  for (int64_t at = 0; at < size; at += split_size)
    sizes.push_back(std::min(split_size, size - at));
  return sizes;
}

std::vector<int64_t> ChunkSizes(int64_t size, int64_t chunks) {
  Require(chunks > 0, "chunk", "needs at least one chunk, got {}", chunks);
  if (size == 0) return std::vector<int64_t>(static_cast<size_t>(chunks), 0);
  return SplitSizes(size, (size + chunks - 1) / chunks);
}

// Old dimensions whose elements lie evenly apart form a run, which new ones must fill exactly.
std::optional<Strides> StridesAs(const Shape& from, const Strides& strides, const Shape& to) {
  if (Numel(from) == 0) return ContiguousStrides(to);
  Strides out = Dims::Filled(to.rank(), 1);
  int next = to.rank() - 1;
  for (int d = from.rank() - 1; d >= 0; --d) {
    if (from[d] == 1) continue;
    int64_t run = from[d];
    const int64_t step = strides[d];
    for (; d > 0 && (from[d - 1] == 1 || strides[d - 1] == run * step); --d) run *= from[d - 1];
    int64_t filled = 1;
    for (; next >= 0 && (filled < run || to[next] == 1); --next) {
      out[next] = filled * step;
      filled *= to[next];
    }
    if (filled != run) return std::nullopt;
  }
  return out;
}

}  // namespace torus::ops
