#include "ops/elementwise/binary.h"

namespace torus::ops {
namespace {

Shape CommonShape(std::string_view name, const Tensor& a, const Tensor& b) {
  Require(a.dtype() == b.dtype(), name, "dtypes differ: {} and {}", a, b);
  return BroadcastShapes(name, a.shape(), b.shape());
}

}  // namespace

Tensor ApplyBinary(std::string_view name, BinaryOp op, const Tensor& a, const Tensor& b) {
  const Shape shape = CommonShape(name, a, b);
  Tensor out(shape, a.dtype(), a.device());
  const BroadcastPlan plan = PlanBroadcast(shape, {&a, &b});
  VisitCompute(name, a.dtype(), [&]<class T>(ComputeType<T>) {
    cpu::Binary(op, plan, a.data<T>(), b.data<T>(), out.mutable_data<T>());
  });
  return out;
}

Tensor ApplyBinary(std::string_view name, BinaryOp op, const Tensor& a, double b) {
  return ApplyBinary(name, op, a, Full({}, b, a.dtype(), a.device()));
}

Tensor ApplyCompare(std::string_view name, CompareOp op, const Tensor& a, const Tensor& b) {
  const Shape shape = CommonShape(name, a, b);
  Tensor out(shape, DType::kBool, a.device());
  const BroadcastPlan plan = PlanBroadcast(shape, {&a, &b});
  VisitCompute(name, a.dtype(), [&]<class T>(ComputeType<T>) {
    cpu::Compare(op, plan, a.data<T>(), b.data<T>(), out.mutable_data<bool>());
  });
  return out;
}

Tensor ApplySelect(std::string_view name, const Tensor& mask, const Tensor& a, const Tensor& b) {
  Require(mask.dtype() == DType::kBool, name, "the mask must be bool, got {}", mask);
  const Shape shape = BroadcastShapes(name, mask.shape(), CommonShape(name, a, b));
  Tensor out(shape, a.dtype(), a.device());
  const BroadcastPlan plan = PlanBroadcast(shape, {&mask, &a, &b});
  VisitCompute(name, a.dtype(), [&]<class T>(ComputeType<T>) {
    cpu::Select(plan, mask.data<bool>(), a.data<T>(), b.data<T>(), out.mutable_data<T>());
  });
  return out;
}

Tensor ApplySelect(std::string_view name, const Tensor& mask, const Tensor& a, double b) {
  return ApplySelect(name, mask, a, Full({}, b, a.dtype(), a.device()));
}

}  // namespace torus::ops
