// Masks and positions that transformers compute from token ids or from the numbers of documents, on
// the device of these. They have no gradients.
#pragma once

#include "runtime/tensor.h"

namespace torus::ops {

// The position of each token of `ids` (N, T), as i64. Padding has position `padding`; other tokens
// count from padding + 1 (fairseq's make_positions). Throws BadInput unless `ids` has two
// dimensions.
Tensor PositionsBehindPadding(const Tensor& ids, int64_t padding);

// The causal mask of rows of documents. `documents` (N, T) of any dtype: 0 for padding, else the
// number of the token's document, 1 in a row that is one text. Result (N, 1, T, T), bool: token i
// may attend to token j <= i of its document, and padding to those of every document. Nothing
// attends to padding. Throws BadInput unless `documents` has two dimensions.
Tensor CausalMask(const Tensor& documents);

// The same for the last `queries` of `keys` tokens without padding: (1, 1, queries, keys).
Tensor CausalMask(int64_t queries, int64_t keys, Device device = {});

// The position of each token of such rows in its document, as i64 (N, T): 0 for the first token
// behind those of another document. Padding is counted too, so a row that is one text has 0, 1, 2,
// ... wherever its padding is. Throws BadInput unless `documents` has two dimensions.
Tensor PositionsInDocuments(const Tensor& documents);

// The rows of ids within a part of a table, which starts at row `first` and has `count` rows.
struct RowsOfPart {
  Tensor rows;  // i64, shape of ids: row within the part, or 0 if it is not there
  Tensor here;  // bool: whether it is there
};
// Those of ids of any integer type and shape.
RowsOfPart FindRowsOfPart(const Tensor& ids, int64_t first, int64_t count);

}  // namespace torus::ops
