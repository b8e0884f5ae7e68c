// MatrixForm: a tensor viewed as a matrix, for low-rank codecs.
#pragma once

#include <cstdint>

#include "runtime/shape.h"

namespace torus::parallel {

// Row-major: element i is (i / columns, i % columns).
struct MatrixForm {
  int64_t rows = 1, columns = 1;

  // The number of values in two factors of rank `rank` (at most the matrix's rank).
  int64_t FactorValues(int64_t rank) const { return RankOf(rank) * (rows + columns); }
  int64_t RankOf(int64_t rank) const;
  // Whether the factors have fewer values than the matrix.
  bool Pays(int64_t rank) const { return FactorValues(rank) < rows * columns; }
};

// Splits the dimensions into rows and columns where rows + columns is smallest; at the first such
// place if there are several.
MatrixForm MatrixFormOf(const Shape& shape);

}  // namespace torus::parallel
