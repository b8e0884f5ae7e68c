// How the matrices of a tensor, its last two dimensions, lie in memory: a pure function of strides.
#pragma once

#include "runtime/tensor.h"

namespace torus::ops {

// Elements of a row lie side by side and rows apart from each other.
inline bool LiesByRows(const Tensor& t) {
  return (t.strides()[t.rank() - 1] == 1 || t.dim(-1) <= 1) &&
         (t.strides()[t.rank() - 2] >= t.dim(-1) || t.dim(-2) <= 1);
}

// The same of columns.
inline bool LiesByColumns(const Tensor& t) { return LiesByRows(t.Transpose(-1, -2)); }

}  // namespace torus::ops
