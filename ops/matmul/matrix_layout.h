// How the matrices of a tensor, its last two dimensions, lie in memory: a pure function of strides.
#pragma once

#include <algorithm>

#include "runtime/tensor.h"

namespace torus::ops {

// Elements of a row lie side by side and rows apart from each other.
inline bool LiesByRows(const Tensor& t) {
  return (t.strides()[t.rank() - 1] == 1 || t.dim(-1) <= 1) &&
         (t.strides()[t.rank() - 2] >= t.dim(-1) || t.dim(-2) <= 1);
}

// The same of columns.
inline bool LiesByColumns(const Tensor& t) { return LiesByRows(t.Transpose(-1, -2)); }

// How GEMM reads a matrix that lies by rows or by columns: as stored by rows, or as the transpose
// of such a one.
struct StoredMatrix {
  bool transposed;
  int64_t stride;  // between stored rows
};

inline StoredMatrix StoredAs(const Tensor& t) {
  const int64_t rows = t.dim(-2), columns = t.dim(-1);
  const int64_t down = t.strides()[t.rank() - 2], across = t.strides()[t.rank() - 1];
  // A stride over a single row is never taken, but must not be less than a row.
  if (LiesByRows(t)) return {false, std::max<int64_t>({1, columns, rows > 1 ? down : 1})};
  return {true, std::max<int64_t>({1, rows, columns > 1 ? across : 1})};
}

}  // namespace torus::ops
