// Masks and positions that transformers make from token ids, on the device of the ids. They have no
// gradients.
#pragma once

#include "runtime/tensor.h"

namespace torus::ops {

// Position of each token of `ids` (N, T), as i64: that of padding is `padding`, the others count
// from padding + 1 (fairseq's make_positions). BadInput for another rank.
Tensor PositionsBehindPadding(const Tensor& ids, int64_t padding);

// The causal mask of texts with padding. `tokens` (N, T) of any dtype, 0 for padding; result (N, 1,
// T, T), bool: token i may attend to token j <= i unless that is padding. BadInput for another
// rank.
Tensor CausalMask(const Tensor& tokens);

// The same for the last `queries` of `keys` tokens without padding: (1, 1, queries, keys).
Tensor CausalMask(int64_t queries, int64_t keys, Device device = {});

// Where the rows that ids ask for lie in the part of a table which begins with row `first` and has
// `count` of them.
struct RowsOfPart {
  Tensor rows;  // i64, of the ids' shape; 0 where the row is not here
  Tensor here;  // bool: whether it is
};
RowsOfPart FindRowsOfPart(const Tensor& ids, int64_t first, int64_t count);

}  // namespace torus::ops
