#include "parallel/codec/matrix_form.h"

#include <algorithm>

namespace torus::parallel {

int64_t MatrixForm::RankOf(int64_t rank) const { return std::min({rank, rows, columns}); }

MatrixForm MatrixFormOf(const Shape& shape) {
  const int64_t count = Numel(shape);
  MatrixForm best{1, count};
  if (count == 0) return best;
  int64_t rows = 1;
  for (const int64_t size : shape) {
    rows *= size;
    if (rows + count / rows < best.rows + best.columns) best = {rows, count / rows};
  }
  return best;
}

}  // namespace torus::parallel
