#include "ops/elementwise/binary.h"

#include <cmath>

#include "ops/elementwise/kernels.h"

namespace torus::ops {
namespace {

Shape CommonShape(std::string_view name, const Tensor& a, const Tensor& b) {
  Require(a.dtype() == b.dtype(), name, "dtypes differ: {} and {}", a, b);
  return BroadcastShapes(name, a.shape(), b.shape());
}

bool Divides(BinaryOp op) {
  return op == BinaryOp::kTruncDiv || op == BinaryOp::kFloorDiv || op == BinaryOp::kRemainder ||
         op == BinaryOp::kFmod;
}

bool TakesBool(BinaryOp op) {
  return op == BinaryOp::kAdd || op == BinaryOp::kMul || op == BinaryOp::kMaximum ||
         op == BinaryOp::kMinimum;
}

void RequireIntegerOp(std::string_view name, BinaryOp op, DType dtype) {
  Require(op != BinaryOp::kDiv && op != BinaryOp::kPow, name, "needs f32 or f64, got {}",
          Name(dtype));
  Require(dtype != DType::kBool || TakesBool(op), name, "does not take bool");
}

// b has no zero where one would be divided by.
Tensor OfIntegers(std::string_view name, BinaryOp op, const Tensor& a, const Tensor& b) {
  const Shape shape = CommonShape(name, a, b);
  RequireIntegerOp(name, op, a.dtype());
  Tensor out(shape, DType::kI64, CommonDevice(name, a, b));
  kernels::Binary(name, op, a.To(DType::kI64), b.To(DType::kI64), out);
  return out.To(a.dtype());
}

// The same integers, checked not to be zero.
Tensor Divisor(std::string_view name, const Tensor& b) {
  Tensor divisor = b.To(DType::kI64).Contiguous();
  kernels::CheckDivisor(name, divisor);
  return divisor.To(b.dtype());
}

// In a dtype that the kernels of comparison know, with the same values.
Tensor Known(const Tensor& t) {
  if (IsLow(t.dtype())) return t.To(DType::kF32);
  return t.dtype() == DType::kI32 || t.dtype() == DType::kU8 ? t.To(DType::kI64) : t;
}

// Whether an integer dtype, or bool, has the number.
bool Has(DType dtype, double value) {
  switch (dtype) {
    case DType::kBool:
      return value == 0 || value == 1;
    case DType::kU8:
      return value == std::trunc(value) && value >= 0 && value <= 0xff;
    case DType::kI32:
      return value == std::trunc(value) && value >= INT32_MIN && value <= INT32_MAX;
    default:
      return value == std::trunc(value) && std::fabs(value) <= 0x1p53;
  }
}

}  // namespace

Tensor Number(double value, const Tensor& like) {
  return Full({}, value, like.dtype(), like.device());
}

Tensor NumberFor(std::string_view name, double value, const Tensor& like) {
  Require(IsFloating(like.dtype()) || Has(like.dtype(), value), name, "{} is no {}", value,
          Name(like.dtype()));
  return Number(value, like);
}

Tensor ApplyBinary(std::string_view name, BinaryOp op, const Tensor& a, const Tensor& b) {
  if (!IsFloating(a.dtype())) return OfIntegers(name, op, a, Divides(op) ? Divisor(name, b) : b);
  Tensor out(CommonShape(name, a, b), a.dtype(), CommonDevice(name, a, b));
  kernels::Binary(name, op, a, b, out);
  return out;
}

Tensor ApplyBinary(std::string_view name, BinaryOp op, const Tensor& a, double b) {
  const Tensor number = NumberFor(name, b, a);
  if (IsFloating(a.dtype())) return ApplyBinary(name, op, a, number);
  Require(b != 0 || !Divides(op), name, "an integer is divided by zero");
  return OfIntegers(name, op, a, number);
}

Tensor ApplyCompare(std::string_view name, CompareOp op, const Tensor& a, const Tensor& b) {
  Tensor out(CommonShape(name, a, b), DType::kBool, CommonDevice(name, a, b));
  kernels::Compare(name, op, Known(a), Known(b), out);
  return out;
}

Tensor ApplyCompare(std::string_view name, CompareOp op, const Tensor& a, double b) {
  return ApplyCompare(name, op, a, NumberFor(name, b, a));
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
