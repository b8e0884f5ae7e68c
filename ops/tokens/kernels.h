// The kernels for masks and positions of tokens, on the device of their tensors. Tensors are
// contiguous. tokens.h says what they compute.
#pragma once

#include "runtime/kernel_table.h"
#include "runtime/tensor_split.h"

namespace torus {

// ids and positions are (N, T), i64.
TORUS_KERNEL(PositionsBehindPadding, "positions", positions.device(),
             (const Tensor& ids, int64_t padding, Tensor& positions), (ids, padding, positions));

// documents is (N, T), i64; mask is (N, 1, Q, T), bool, for the last Q tokens of each row.
TORUS_KERNEL(CausalMask, "causal_mask", mask.device(), (const Tensor& documents, Tensor& mask),
             (documents, mask));

// documents and positions are (N, T), i64.
TORUS_KERNEL(PositionsInDocuments, "positions", positions.device(),
             (const Tensor& documents, Tensor& positions), (documents, positions));

// here = whether ids are in the range; rows = ids - range.begin if so, else 0. ids and rows are
// i64, here is bool, all of one shape.
TORUS_KERNEL(FindRowsOfPart, "rows_of_part", rows.device(),
             (const Tensor& ids, const IndexRange& range, Tensor& rows, Tensor& here),
             (ids, range, rows, here));

}  // namespace torus
