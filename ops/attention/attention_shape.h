// Shape rule of attention: a pure function.
#pragma once

#include "runtime/shape.h"

namespace torus::ops {

struct AttentionShape {
  Shape batch,
      key_batch;  // of query and result; of key and value: differ only in heads
  int64_t group;  // query heads for each key head
  int64_t rows, keys, width, value_width;

  Shape Query() const { return With(batch, rows, width); }
  Shape Key() const { return With(key_batch, keys, width); }
  Shape Value() const { return With(key_batch, keys, value_width); }
  Shape Out() const { return With(batch, rows, value_width); }
  Shape Scores() const { return With(batch, rows, keys); }
  static Shape With(const Shape& batch, int64_t rows, int64_t columns);
};

// Batches broadcast; with `grouped`, heads are dimension -3, and the query has a multiple of the
// key's heads. Throws BadInput tagged scaled_dot_product_attention for shapes that do not fit.
AttentionShape AttentionShapeOf(const Shape& query, const Shape& key, const Shape& value,
                                bool grouped);

}  // namespace torus::ops
