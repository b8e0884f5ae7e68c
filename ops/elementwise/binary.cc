#include "ops/elementwise/binary.h"

#include "ops/elementwise/kernels.h"

namespace torus::ops {
namespace {

Shape CommonShape(std::string_view name, const Tensor& a, const Tensor& b) {
  Require(a.dtype() == b.dtype(), name, "dtypes differ: {} and {}", a, b);
  return BroadcastShapes(name, a.shape(), b.shape());
}

}  // namespace

Tensor Number(double value, const Tensor& like) {
  return Full({}, value, like.dtype(), like.device());
}

Tensor ApplyBinary(std::string_view name, BinaryOp op, const Tensor& a, const Tensor& b) {
  Tensor out(CommonShape(name, a, b), a.dtype(), CommonDevice(name, a, b));
  kernels::Binary(name, op, a, b, out);
  return out;
}

Tensor ApplyBinary(std::string_view name, BinaryOp op, const Tensor& a, double b) {
  return ApplyBinary(name, op, a, Number(b, a));
}

Tensor ApplyCompare(std::string_view name, CompareOp op, const Tensor& a, const Tensor& b) {
  Tensor out(CommonShape(name, a, b), DType::kBool, CommonDevice(name, a, b));
  kernels::Compare(name, op, a, b, out);
  return out;
}

Tensor ApplyCompare(std::string_view name, CompareOp op, const Tensor& a, double b) {
  return ApplyCompare(name, op, a, Number(b, a));
}

Tensor ApplySelect(std::string_view name, const Tensor& mask, const Tensor& a, const Tensor& b) {
  Require(mask.dtype() == DType::kBool, name, "the mask must be bool, got {}", mask);
  const Shape shape = BroadcastShapes(name, mask.shape(), CommonShape(name, a, b));
  Tensor out(shape, a.dtype(), CommonDevice(name, mask, a, b));
  kernels::Select(name, mask, a, b, out);
  return out;
}

Tensor ApplySelect(std::string_view name, const Tensor& mask, const Tensor& a, double b) {
  return ApplySelect(name, mask, a, Number(b, a));
}

}  // namespace torus::ops
