#include "ops/matmul/matmul_shape.h"

#include "runtime/error.h"

namespace torus::ops {

Shape BatchOf(const Shape& shape) {
  return Shape(std::span(shape.begin(), static_cast<size_t>(shape.rank() - 2)));
}

Shape MatmulShape(const Shape& a, const Shape& b) {
  const int64_t k = a[a.rank() - 1];
  Require(k == b[b.rank() - 2], "matmul", "inner sizes differ: {} x {}", a, b);
  Shape out = BroadcastShapes("matmul", BatchOf(a), BatchOf(b));
  out.push_back(a[a.rank() - 2]);
  out.push_back(b[b.rank() - 1]);
  return out;
}

}  // namespace torus::ops
