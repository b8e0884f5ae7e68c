// A tensor as rows along its last dimension; a scalar is one row of one element.
#pragma once

#include "runtime/tensor.h"

namespace torus {

inline int64_t RowLength(const Tensor& rows) { return rows.rank() == 0 ? 1 : rows.dim(-1); }

// 0 if there are no elements.
inline int64_t RowCount(const Tensor& rows) {
  return rows.numel() == 0 ? 0 : rows.numel() / RowLength(rows);
}

}  // namespace torus
