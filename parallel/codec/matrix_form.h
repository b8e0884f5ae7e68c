// A tensor as a matrix, for codecs of low rank.
#pragma once

#include <cstdint>

#include "runtime/shape.h"

namespace torus::parallel {

// Row-major: element i is (i / columns, i % columns).
struct MatrixForm {
  int64_t rows = 1, columns = 1;

  // Numbers in two factors of rank `rank`, at most that of the matrix.
  int64_t FactorValues(int64_t rank) const { return RankOf(rank) * (rows + columns); }
  int64_t RankOf(int64_t rank) const;
  // Whether the factors have fewer numbers than the matrix.
  bool Pays(int64_t rank) const { return FactorValues(rank) < rows * columns; }
};

// Cuts the dimensions into rows and columns where rows + columns is least; of equal ones at the
// first.
MatrixForm MatrixFormOf(const Shape& shape);

}  // namespace torus::parallel
