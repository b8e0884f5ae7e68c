// Masks and positions that transformers compute from token ids, on the device of the ids. They have
// no gradients.
#pragma once

#include "runtime/tensor.h"

namespace torus::ops {

// The position of each token of `ids` (N, T), as i64. Padding has position `padding`; other tokens
// count from padding + 1 (fairseq's make_positions). Throws BadInput unless `ids` has two
// dimensions.
Tensor PositionsBehindPadding(const Tensor& ids, int64_t padding);

// The causal mask of texts with padding. `tokens` (N, T) of any dtype, 0 for padding; result (N, 1,
// T, T), bool: token i may attend to token j <= i unless that is padding. Throws BadInput unless
// `tokens` has two dimensions.
Tensor CausalMask(const Tensor& tokens);

// The same for the last `queries` of `keys` tokens without padding: (1, 1, queries, keys).
Tensor CausalMask(int64_t queries, int64_t keys, Device device = {});

// The rows of ids within a part of a table, which starts at row `first` and has `count` rows.
struct RowsOfPart {
  Tensor rows;  // i64, shape of ids: row within the part, or 0 if it is not there
  Tensor here;  // bool: whether it is there
};
// Those of ids of any integer type and shape.
RowsOfPart FindRowsOfPart(const Tensor& ids, int64_t first, int64_t count);

}  // namespace torus::ops
