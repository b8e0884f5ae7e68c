#include "ops/reduction/variance.h"

#include <algorithm>

#include "ops/elementwise/elementwise.h"
#include "ops/reduction/reduction.h"
#include "ops/sum/reduction_shape.h"

namespace torus::ops {

Variable Var(const Variable& input, const Dims& dims, double correction, bool keepdim) {
  const Dims reduced = ReducedDims("var", dims, input.rank());
  const double count = static_cast<double>(ReducedCount(input.shape(), reduced));
  const Variable off = Sub(input, Mean(input, dims, true));
  return Div(Sum(Mul(off, off), dims, keepdim), std::max(0.0, count - correction));
}

}  // namespace torus::ops
