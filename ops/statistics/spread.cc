#include "ops/statistics/spread.h"

#include <algorithm>
#include <cmath>

#include "ops/activation/math.h"
#include "ops/elementwise/elementwise.h"
#include "ops/reduction/reduction.h"
#include "ops/reduction/reduction_shape.h"
#include "ops/statistics/extremum.h"
#include "ops/view/view.h"

namespace torus::ops {
namespace {

// The largest elements, without history; 0 where that is infinite, which a difference cannot cross.
Variable ShiftOf(const Variable& input, const Dims& dims) {
  Tensor shift = Amax(input.Detach(), dims, true).data();
  VisitCompute("logsumexp", shift.dtype(), [&]<class T>(ComputeType<T>) {
    T* p = shift.mutable_data<T>();
    std::replace_if(
        p, p + shift.numel(), [](T v) { return std::isinf(v); }, T(0));
  });
  return Variable(shift);
}

}  // namespace

Variable Var(const Variable& input, const Dims& dims, double correction, bool keepdim) {
  const Dims reduced = ReducedDims("var", dims, input.rank());
  const double count = static_cast<double>(ReducedCount(input.shape(), reduced));
  const Variable off = Sub(input, Mean(input, dims, true));
  return Div(Sum(Mul(off, off), dims, keepdim), std::max(0.0, count - correction));
}

Variable LogSumExp(const Variable& input, const Dims& dims, bool keepdim) {
  const Dims reduced = ReducedDims("logsumexp", dims, input.rank());
  const Shape kept = ReducedShape(input.shape(), reduced, keepdim);
  if (ReducedCount(input.shape(), reduced) == 0) return Log(Sum(input, dims, keepdim));
  const Variable shift = ShiftOf(input, dims);
  const Variable sum = Sum(Exp(Sub(input, shift)), dims, true);
  return Reshape(Add(Log(sum), shift), kept);
}

}  // namespace torus::ops
