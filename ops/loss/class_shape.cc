#include "ops/loss/class_shape.h"

#include "runtime/error.h"

namespace torus::ops {

int ClassDim(std::string_view op, const Shape& input) {
  Require(input.rank() >= 1, op, "needs input (N, C), (C) or (N, C, d1, ...), got a scalar");
  return input.rank() == 1 ? 0 : 1;
}

Shape WithoutClasses(std::string_view op, const Shape& input) {
  const int classes = ClassDim(op, input);
  Shape out;
  for (int d = 0; d < input.rank(); ++d)
    if (d != classes) out.push_back(input[d]);
  return out;
}

Dims ClassesLast(int rank) {
  Dims order{0};
  for (int d = 2; d < rank; ++d) order.push_back(d);
  if (rank > 1) order.push_back(1);
  return order;
}

Dims ClassesSecond(int rank) {
  Dims order{0};
  if (rank > 1) order.push_back(rank - 1);
  for (int d = 1; d + 1 < rank; ++d) order.push_back(d);
  return order;
}

}  // namespace torus::ops
