// The memory layout of a tensor's matrices (its last two dimensions): a pure function of strides.
#pragma once

#include <algorithm>

#include "runtime/tensor.h"

namespace torus::ops {

// Row-major: elements of a row are adjacent and rows do not overlap.
inline bool LiesByRows(const Tensor& t) {
  return (t.strides()[t.rank() - 1] == 1 || t.dim(-1) <= 1) &&
         (t.strides()[t.rank() - 2] >= t.dim(-1) || t.dim(-2) <= 1);
}

// Column-major.
inline bool LiesByColumns(const Tensor& t) { return LiesByRows(t.Transpose(-1, -2)); }

// How GEMM reads a row-major or column-major matrix: as a row-major one, or as the transpose of
// one.
struct StoredMatrix {
  bool transposed;
  int64_t stride;  // between stored rows
};

inline StoredMatrix StoredAs(const Tensor& t) {
  const int64_t rows = t.dim(-2), columns = t.dim(-1);
  const int64_t down = t.strides()[t.rank() - 2], across = t.strides()[t.rank() - 1];
  // The stride of a single row is never used, but must be at least the row length.
  if (LiesByRows(t)) return {false, std::max<int64_t>({1, columns, rows > 1 ? down : 1})};
  return {true, std::max<int64_t>({1, rows, columns > 1 ? across : 1})};
}

}  // namespace torus::ops
