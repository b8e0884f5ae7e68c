#include "ops/elementwise/binary.h"

namespace torus::ops {

Tensor ApplyBinary(std::string_view name, BinaryOp op, const Tensor& a, const Tensor& b) {
  Require(a.dtype() == b.dtype(), name, "dtypes differ: {} and {}", a.Describe(), b.Describe());
  const Shape shape = BroadcastShapes(name, a.shape(), b.shape());
  Tensor out(shape, a.dtype(), a.device());
  const BroadcastPlan plan = PlanBroadcast(shape, {&a, &b});
  VisitFloat(name, a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    cpu::Binary(op, plan, a.data<T>(), b.data<T>(), out.mutable_data<T>());
  });
  return out;
}

Tensor ApplyBinary(std::string_view name, BinaryOp op, const Tensor& a, double b) {
  return ApplyBinary(name, op, a, Full({}, b, a.dtype(), a.device()));
}

}  // namespace torus::ops
