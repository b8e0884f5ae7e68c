#include "ops/attention/attention_shape.h"

#include "runtime/error.h"

namespace torus::ops {
namespace {

constexpr const char* kOp = "scaled_dot_product_attention";

Shape Leading(const Shape& shape, int dropped) {
  return Shape(std::span(shape.begin(), static_cast<size_t>(shape.rank() - dropped)));
}

int64_t At(const Shape& shape, int from_end) { return shape[shape.rank() - from_end]; }

Shape Broadcast(const Shape& q, const Shape& k, const Shape& v) {
  return BroadcastShapes(kOp, BroadcastShapes(kOp, q, k), v);
}

void CheckGroups(const Shape& q, const Shape& k, const Shape& v) {
  Require(q.rank() >= 3 && k.rank() >= 3 && v.rank() >= 3, kOp,
          "grouped heads need (..., heads, L, E), got {}, {}, {}", q, k, v);
  const int64_t heads = At(q, 3), key_heads = At(k, 3);
  Require(key_heads > 0 && key_heads == At(v, 3) && heads % key_heads == 0, kOp,
          "{} query heads are no multiple of {} key and {} value heads", heads, key_heads,
          At(v, 3));
}

}  // namespace

Shape AttentionShape::With(const Shape& batch, int64_t rows, int64_t columns) {
  Shape shape = batch;
  shape.push_back(rows);
  shape.push_back(columns);
  return shape;
}

AttentionShape AttentionShapeOf(const Shape& q, const Shape& k, const Shape& v, bool grouped) {
  Require(q.rank() >= 2 && k.rank() >= 2 && v.rank() >= 2 && At(q, 1) == At(k, 1) &&
              At(k, 2) == At(v, 2),
          kOp, "needs (..., L, E), (..., S, E) and (..., S, Ev), got {}, {} and {}", q, k, v);
  AttentionShape shape{
      .group = 1, .rows = At(q, 2), .keys = At(k, 2), .width = At(q, 1), .value_width = At(v, 1)};
  if (!grouped) {
    shape.batch = shape.key_batch = Broadcast(Leading(q, 2), Leading(k, 2), Leading(v, 2));
    return shape;
  }
  CheckGroups(q, k, v);
  shape.group = At(q, 3) / At(k, 3);
  shape.batch = shape.key_batch = Broadcast(Leading(q, 3), Leading(k, 3), Leading(v, 3));
  shape.batch.push_back(At(q, 3));
  shape.key_batch.push_back(At(k, 3));
  return shape;
}

}  // namespace torus::ops
