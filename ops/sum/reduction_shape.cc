#include "ops/sum/reduction_shape.h"

#include <algorithm>

#include "runtime/error.h"

namespace torus::ops {
namespace {

bool Contains(const Dims& dims, int64_t dim) {
  return std::find(dims.begin(), dims.end(), dim) != dims.end();
}

}  // namespace

Dims ReducedDims(std::string_view op, const Dims& dims, int rank) {
  Dims named;
  for (int64_t dim : dims) {
    const int d = NormalizeDim(op, dim, rank);
    Require(!Contains(named, d), op, "dimension {} is named twice", d);
    named.push_back(d);
  }
  Dims reduced;
  for (int d = 0; d < rank; ++d)
    if (dims.rank() == 0 || Contains(named, d)) reduced.push_back(d);
  return reduced;
}

Shape ReducedShape(const Shape& shape, const Dims& reduced, bool keepdim) {
  Shape out;
  for (int d = 0; d < shape.rank(); ++d) {
    if (!Contains(reduced, d))
      out.push_back(shape[d]);
    else if (keepdim)
      out.push_back(1);
  }
  return out;
}

int64_t ReducedCount(const Shape& shape, const Dims& reduced) {
  int64_t count = 1;
  for (int64_t d : reduced) count *= shape[static_cast<int>(d)];
  return count;
}

Shape MiddleShape(const Shape& shape, int first, int last) {
  Shape middle{1, 1, 1};
  for (int d = 0; d < shape.rank(); ++d) middle[d < first ? 0 : d <= last ? 1 : 2] *= shape[d];
  return middle;
}

}  // namespace torus::ops
